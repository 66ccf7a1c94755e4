import picocolors from 'picocolors';

const { NO_COLOR, FORCE_COLOR, TERM } = process.env;

/** Only on a terminal. Piped output has no colors, not even in CI, where picocolors would enable them. */
export const colors = picocolors.createColors(
  !NO_COLOR && (Boolean(FORCE_COLOR) || (process.stdout.isTTY === true && TERM !== 'dumb')),
);
