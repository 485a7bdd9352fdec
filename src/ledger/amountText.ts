/**
 * Quantities in a readable form: "300m", "1996.14", "8.2Gi". Rounded up, so that adding the amount named as missing, or
 * requesting that much less, is enough.
 */
import type { Amount } from '../solver/reasons.ts';
import { Quantity } from '../units/quantity.ts';

const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi'] as const;

const isBytes = (resource: string): boolean =>
  resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-');

export function amountText({ resource, amount }: Amount): string {
  return `${quantityText(resource, amount)} ${resource}`;
}

/** The quantity without the resource name. */
export function quantityText(resource: string, amount: string): string {
  const quantity = Quantity.parse(amount);
  if (isBytes(resource)) return bytesText(quantity.value());
  const milli = quantity.milliValue();
  if (milli % 1000 === 0) return String(milli / 1000);
  return Math.abs(milli) < 1000 ? `${milli}m` : String(milli / 1000);
}

function bytesText(bytes: number): string {
  if (bytes < 1024) return String(bytes);
  let power = 0;
  while (power < BINARY.length - 1 && bytes >= 1024 ** (power + 2)) power += 1;
  const tenths = Math.ceil((bytes / 1024 ** (power + 1)) * 10);
  return `${tenths / 10}${BINARY[power]}`;
}
