/**
 * Loaded before a function: a report is waited for as long as it takes. The two seconds that it may take at the most are
 * no subject where it is looked for, and after one that took longer nobody waits for the next ones.
 */
AbortSignal.timeout = () => new AbortController().signal;
