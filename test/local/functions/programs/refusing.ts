import { existsSync } from 'node:fs';

/** Loads only if a file exists. */
const file = process.env['LOADS_IF'] ?? '';
if (!existsSync(file)) throw new Error(`2 mistakes in the configuration: ${file} is missing`);

export const handler = () => 'loaded';
