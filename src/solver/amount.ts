/**
 * Amounts as people read them. In: a number of units of a resource; out: "300m", "1.5", "8.2Gi". Rounded up, so that
 * whoever adds what is said to be missing, or asks for that much less, has enough.
 */
import { Quantity } from '../units/quantity.ts';

const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi'] as const;

/** Bytes come in powers of 1024; everything else as Kubernetes prints it. */
const isBytes = (resource: string): boolean =>
  resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-');

/** `units` are thousandths for cpu. */
export function readableAmount(resource: string, units: number): string {
  if (resource === 'cpu') return Quantity.fromMilli(Math.ceil(units)).toString();
  if (!isBytes(resource) || units < 1024) return Quantity.fromValue(Math.ceil(units)).toString();
  let power = 0;
  while (power < BINARY.length - 1 && units >= 1024 ** (power + 2)) power += 1;
  const tenths = Math.ceil((units / 1024 ** (power + 1)) * 10);
  return `${tenths / 10}${BINARY[power]}`;
}
