/**
 * Reads a Lease's holder and builds the Lease that takes it over or releases it. The result has the resource version
 * that was read, so that of two concurrent writers one fails.
 */
import type { Lease } from '../api/kinds.ts';
import { microTimestamp } from '../units/timestamp.ts';

/** The lease with `identity` as its holder from `now` on; its times are only informational. */
export function claimed(lease: Lease, identity: string, leaseDuration: number, now: number): Lease {
  const time = microTimestamp(now);
  const before = lease.spec;
  const mine = before?.holderIdentity === identity;
  const transitions = before?.leaseTransitions ?? 0;
  return {
    ...lease,
    spec: {
      ...before,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDuration / 1_000),
      acquireTime: mine ? (before?.acquireTime ?? time) : time,
      renewTime: time,
      leaseTransitions: mine || before === undefined ? transitions : transitions + 1,
    },
  };
}

/** The lease without a holder and with the shortest duration, so that any standby may take it at once. */
export function released(lease: Lease, now: number): Lease {
  const time = microTimestamp(now);
  return {
    ...lease,
    spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: time, renewTime: time },
  };
}
