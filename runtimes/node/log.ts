export const IS_DEBUG = process.env['ASYA_LOG_LEVEL']?.toLowerCase() === 'debug';

export function log(text: string): void {
  process.stderr.write(`asya-runtime: ${text}\n`);
}
