import { startPubsub } from '../support/pubsub.ts';

/** Starts the emulator, prints its pid, and runs until it is killed. */
const { pid } = await startPubsub();
process.stdout.write(`${JSON.stringify({ message: 'started', pid })}\n`);
setInterval(() => {}, 60_000);
