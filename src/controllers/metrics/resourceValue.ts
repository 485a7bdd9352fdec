import type { Quantity } from '../../units/quantity.ts';

/** As dashboards expect it: CPU in cores, everything else in its base unit. */
export const resourceValue = (name: string, amount: Quantity): number =>
  name === 'cpu' ? amount.milliValue() / 1000 : amount.value();

/** `ephemeral-storage` is `ephemeral_storage`. */
export const resourceType = (name: string): string => name.toLowerCase().replaceAll('-', '_');
