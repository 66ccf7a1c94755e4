import { existsSync } from 'node:fs';

/** Loads only where a file is there. */
const file = process.env['LOADS_IF'] ?? '';
if (!existsSync(file)) throw new Error(`2 mistakes in the configuration: ${file} is missing`);

export const handler = () => 'loaded after all';
