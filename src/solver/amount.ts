import { Quantity } from '../units/quantity.ts';
import type { Amount } from './reasons.ts';

/**
 * Converts the solver's units (millicores for cpu, else whole units) to an exact quantity, rounded up to a whole unit.
 */
export function amountOf(resource: string, units: number): Amount {
  const whole = Math.ceil(units);
  const quantity = resource === 'cpu' ? Quantity.fromMilli(whole) : Quantity.fromValue(whole);
  return { resource, amount: quantity.toString() };
}
