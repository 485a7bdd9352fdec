/** `2026-01-02T03:04:05Z`: milliseconds since the epoch as Kubernetes writes a moment, to the second. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

/** With microseconds, as Leases and newer Events carry it. */
export function microTimestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z');
}
