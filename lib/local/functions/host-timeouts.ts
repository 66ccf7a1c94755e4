import { systemClock } from '../../adapters/system/system.ts';
import { pausableTimeouts } from '../debugger/pausable-timeouts.ts';

/** The timeouts in the process of a function. The mesh pauses them while a debugger is attached to the handler. */
export const hostTimeouts = pausableTimeouts(systemClock);
