import picocolors from 'picocolors';

const { NO_COLOR, FORCE_COLOR, TERM } = process.env;

/** Colours are for a person at a terminal: what is piped on has none, also in CI. */
export const colors = picocolors.createColors(
  !NO_COLOR && (Boolean(FORCE_COLOR) || (process.stdout.isTTY === true && TERM !== 'dumb')),
);
