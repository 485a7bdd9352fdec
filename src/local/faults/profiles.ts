/** Profiles: faults that are always active, and faults that recur at random times, which depend on the seed. */
import { faultOrder, type FaultKind, type FaultOrder } from './faultKinds.ts';
import type { Faults } from './faults.ts';

export const PROFILES = ['calm', 'realistic', 'stormy'] as const;
export type Profile = (typeof PROFILES)[number];

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/**
 * Azure's own figures for constrained regions: 27 % of attempts to create a VM succeed; of the failures 94.5 % are
 * family quota, then come zonal allocation, allocation and SKU restrictions. Each share is of the attempts that the
 * kinds before it let through.
 */
const ATTEMPTS_THAT_FAIL = 0.73;
const FAILURES: readonly (readonly [FaultKind, number])[] = [
  ['family-quota', 0.945],
  ['sku-restriction', 0.005],
  ['zonal-allocation', 0.035],
  ['allocation', 0.015],
];

function attemptFaults(): FaultOrder[] {
  let left = 1;
  return FAILURES.map(([kind, ofFailures]) => {
    const ofAttempts = ofFailures * ATTEMPTS_THAT_FAIL;
    const share = ofAttempts / left;
    left -= ofAttempts;
    return faultOrder(kind, { share });
  });
}

/** A fault that recurs after `every` milliseconds on average. */
interface Recurring {
  readonly every: number;
  readonly order: FaultOrder;
}

interface ProfileEntry {
  readonly always: readonly FaultOrder[];
  readonly recurring: readonly Recurring[];
}

const TABLE: Readonly<Record<Profile, ProfileEntry>> = {
  calm: { always: [], recurring: [] },
  realistic: {
    always: [
      ...attemptFaults(),
      faultOrder('nic-reserved'),
      faultOrder('lro-late', { share: 0.02, by: MINUTE }),
      faultOrder('never-join', { share: 0.005 }),
      faultOrder('throttle', { share: 0.002, after: 10_000 }),
    ],
    recurring: [
      { every: HOUR, order: faultOrder('spot-eviction', { share: 0.05 }) },
      { every: 10 * MINUTE, order: faultOrder('watch-drop', { count: 1, for: 5 * MINUTE }) },
    ],
  },
  stormy: {
    always: [
      faultOrder('zonal-allocation', { share: 0.3 }),
      faultOrder('allocation', { share: 0.1 }),
      faultOrder('family-quota', { share: 0.2 }),
      faultOrder('nic-reserved'),
      faultOrder('lro-fail', { share: 0.05 }),
      faultOrder('lro-late', { share: 0.1, by: 2 * MINUTE }),
      faultOrder('never-join', { share: 0.05 }),
      faultOrder('throttle', { share: 0.05, after: 15_000 }),
      faultOrder('conflict', { share: 0.05 }),
      faultOrder('slow-api', { share: 0.05, by: 3_000 }),
    ],
    recurring: [
      { every: 10 * MINUTE, order: faultOrder('spot-eviction', { share: 0.3, notice: 30_000 }) },
      { every: 20 * MINUTE, order: faultOrder('spot-eviction', { notice: 0 }) },
      { every: 2 * MINUTE, order: faultOrder('watch-drop', { count: 2, for: MINUTE }) },
      { every: 15 * MINUTE, order: faultOrder('watch-gone', { count: 1, for: MINUTE }) },
      { every: 30 * MINUTE, order: faultOrder('silent-kubelet', { for: 3 * MINUTE }) },
      { every: HOUR, order: faultOrder('clock-skew', { by: 90_000, for: 5 * MINUTE }) },
      { every: HOUR, order: faultOrder('process-death') },
    ],
  },
};

/** Applies a profile; returns a function that ends its schedule. */
export function applyProfile(profile: Profile, faults: Faults): () => void {
  const { always, recurring } = TABLE[profile];
  for (const order of always) faults.add(order);
  let ended = false;
  const cancels = new Map<Recurring, () => void>();
  const plan = (entry: Recurring): void => {
    if (ended) return;
    // With exponentially distributed gaps the faults recur independently of each other.
    const gap = -Math.log(1 - faults.random.next()) * entry.every;
    cancels.set(
      entry,
      faults.clock.after(gap, () => {
        faults.add(entry.order);
        plan(entry);
      }),
    );
  };
  for (const entry of recurring) plan(entry);
  return () => {
    ended = true;
    for (const cancel of cancels.values()) cancel();
  };
}
