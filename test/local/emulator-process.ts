import { startPubsub } from '../support/pubsub.ts';

/** Starts the emulator, says so, and waits to be killed. */
const { pid } = await startPubsub();
process.stdout.write(`${JSON.stringify({ message: 'started', pid })}\n`);
setInterval(() => {}, 60_000);
