/** IPv4 ranges such as `10.224.0.0/16`. */
import { refusal } from '../refusal.ts';

export interface AddressPrefix {
  readonly text: string;
  readonly base: number;
  readonly size: number;
}

export function parsePrefix(text: string): AddressPrefix {
  const match = /^(\d{1,3}(?:\.\d{1,3}){3})\/(\d{1,2})$/.exec(text);
  const base = parseAddress(match?.[1] ?? '');
  const bits = Number(match?.[2] ?? Number.NaN);
  const size = 2 ** (32 - bits);
  if (base === undefined || !(bits <= 32) || base % size !== 0) throw refusal('InvalidCIDRNotation', { text });
  return { text, base, size };
}

export function parseAddress(text: string): number | undefined {
  const parts = text.split('.').map(Number);
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255)) return undefined;
  return parts.reduce((sum, part) => sum * 256 + part, 0);
}

export function formatAddress(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

export function contains(outer: AddressPrefix, inner: AddressPrefix): boolean {
  return inner.base >= outer.base && inner.base + inner.size <= outer.base + outer.size;
}

export function overlaps(left: AddressPrefix, right: AddressPrefix): boolean {
  return left.base < right.base + right.size && right.base < left.base + left.size;
}
