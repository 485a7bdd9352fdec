/** Formats of numbers and times on the page. */

export const dollars = (amount: number, digits = 2): string =>
  `$${amount.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;

/** Small prices need more digits than large bills. */
export const perHour = (amount: number): string => `${dollars(amount, amount < 10 ? 3 : 2)}/h`;
export const perMonth = (amount: number): string => `${dollars(amount, 0)}/month`;
export const percent = (share: number): string => `${Math.round(share * 100)}%`;
export const grouped = (amount: number): string => amount.toLocaleString('en-US', { maximumFractionDigits: 1 });
export const counted = (amount: number, noun: string): string => `${grouped(amount)} ${noun}${amount === 1 ? '' : 's'}`;
export const shortType = (name: string): string => name.replace(/^Standard_/, '');

const MINUTE = 60_000;

export function ageOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(milliseconds / MINUTE);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d`;
}

/** A duration. */
export function tookOf(milliseconds: number): string {
  if (milliseconds < 10) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 1000) return `${milliseconds.toFixed(0)} ms`;
  return milliseconds < 60_000 ? `${(milliseconds / 1000).toFixed(1)} s` : ageOf(milliseconds);
}

export const clockOf = (time: number): string => new Date(time).toISOString().slice(11, 19);
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
export const weekdayOf = (time: number): string => WEEKDAYS[new Date(time).getUTCDay()] ?? '';
export const dayAndClock = (time: number): string => new Date(time).toISOString().slice(5, 16).replace('T', ' ');
