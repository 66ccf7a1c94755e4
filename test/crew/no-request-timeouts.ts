/**
 * Loaded before a function: disables the timeout of two seconds for a report to the gateway. On a busy machine a report
 * may take longer, and after one timeout the function no longer waits for its reports.
 */
AbortSignal.timeout = () => new AbortController().signal;
