import { systemClock } from '../../../lib/adapters/system/system.ts';
import { type MemoryBroker, memoryBroker } from '../../app/memory-broker.ts';
import type { MakerModule } from '../contract-subject.ts';

/** Brokers of this process by name. */
const brokers = new Map<string, MemoryBroker>();

export function brokerNamed(name: string): MemoryBroker {
  const broker = brokers.get(name) ?? memoryBroker({ clock: systemClock });
  brokers.set(name, broker);
  return broker;
}

export const makeTransport: MakerModule['makeTransport'] = ({ broker, visibilityMs, waitMs }) =>
  brokerNamed(String(broker)).transport({ visibilityMs, waitMs });
