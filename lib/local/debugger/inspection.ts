import { join } from 'node:path';
import type { Clock } from '../../ports/clock.ts';
import { type Attachment, attachment } from './attachment.ts';
import { debugpyArguments, inspectorArguments, readPort } from './debug-command.ts';
import { type DebugPort, openDebugPort } from './debug-port.ts';
import { ADAPTER_PROTOCOL, INSPECTOR_PROTOCOL } from './debug-protocol.ts';

export type Language = 'node' | 'python';

/** An actor whose handler can be debugged. */
export interface Inspection {
  readonly actor: string;
  readonly language: Language;
  /** Where a debugger attaches, on 127.0.0.1. It does not change while the mesh runs. */
  readonly port: number;
  readonly attachment: Attachment;
  /** Options in front of the runtime's program, so that its process can be debugged. */
  readonly arguments: readonly string[];
  close(): Promise<void>;
}

export interface InspectionOptions {
  readonly actor: string;
  readonly language: Language;
  /**
   * The port for debuggers.
   * @default the port that debuggers of this language expect, or the next free one
   */
  readonly port?: number;
  /** Folder for the file in which a process of the handler announces its own port. */
  readonly folder: string;
  readonly clock: Clock;
  readonly onChange: (isAttached: boolean) => void;
}

/** The ports that IDEs expect. */
const USUAL_PORTS: Readonly<Record<Language, number>> = { node: 9229, python: 5678 };
const PROTOCOLS = { node: INSPECTOR_PROTOCOL, python: ADAPTER_PROTOCOL } as const;

/** Rejects if the port cannot be opened. */
export async function openInspection(options: InspectionOptions): Promise<Inspection> {
  const { actor, language, folder, clock, onChange } = options;
  const portFile = join(folder, `${actor}.debugger`);
  const state = attachment(clock);
  const opened: DebugPort = await openDebugPort({
    port: options.port ?? USUAL_PORTS[language],
    isExact: options.port !== undefined,
    protocol: PROTOCOLS[language],
    target: () => readPort(portFile),
    onChange: (isAttached) => {
      state.set(isAttached);
      onChange(isAttached);
    },
  });
  return {
    actor,
    language,
    port: opened.port,
    attachment: state,
    arguments: language === 'node' ? inspectorArguments(portFile) : debugpyArguments(portFile),
    close: opened.close,
  };
}
