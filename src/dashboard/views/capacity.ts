/** Scarce capacity: quota, rate limits, reservations, limits of pools, and offerings that failed. */
import type { Ledger } from '../../ledger/ledger.ts';
import type { Frame } from '../feed.ts';
import type { UnavailableOffering } from '../picture.ts';
import type { CapacityScreen } from '../screens.ts';
import { rowOf } from './decisions.ts';
import type { Sample } from './samples.ts';

const QUOTA = 'nodewright_azure_quota_remaining';
const THROTTLE = 'nodewright_azure_throttle_remaining';
const WAITED = 'nodewright_azure_throttle_wait_seconds_total';
const RESERVATION = 'nodewright_azure_reservation_remaining';
const USED = 'karpenter_nodepools_usage';
const LIMIT = 'karpenter_nodepools_limit';
const ADDRESSES_USED = 'nodewright_azure_subnet_addresses_used';
const ADDRESSES_FREE = 'nodewright_azure_subnet_addresses_free';
export const CAPACITY_METRICS: ReadonlySet<string> = new Set([
  QUOTA,
  THROTTLE,
  WAITED,
  RESERVATION,
  USED,
  LIMIT,
  ADDRESSES_USED,
  ADDRESSES_FREE,
]);

const SHOWN_FAILURES = 50;
const MOST_UNAVAILABLE = 500;

export function capacityScreen(
  { time }: Frame,
  ledger: Ledger,
  samples: readonly Sample[],
  unavailable: readonly UnavailableOffering[],
): CapacityScreen {
  const of = (name: string): readonly Sample[] => samples.filter((sample) => sample.name === name);
  const keyed = (name: string): ReadonlyMap<string, number> =>
    new Map(of(name).map(({ labels, value }) => [`${labels['nodepool']} ${labels['resource_type']}`, value]));
  const used = keyed(USED);
  return {
    time,
    quotas: of(QUOTA)
      .map(({ labels, value }) => ({ name: labels['quota'] ?? '', remaining: value }))
      .sort((left, right) => left.remaining - right.remaining || (left.name < right.name ? -1 : 1)),
    throttle: of(THROTTLE)
      .map(({ labels, value }) => ({ bucket: labels['bucket'] ?? '', remaining: value }))
      .sort((left, right) => left.remaining - right.remaining),
    throttleWait: of(WAITED).reduce((sum, { value }) => sum + value, 0),
    unavailable: unavailable.slice(0, MOST_UNAVAILABLE).map(({ instanceType, ...rest }) => ({
      offering: instanceType === '' ? 'every instance type' : instanceType,
      ...rest,
    })),
    reservations: of(RESERVATION).map(({ labels, value }) => ({
      name: Object.values(labels).join(' '),
      remaining: value,
    })),
    limits: [...keyed(LIMIT)].map(([key, limit]) => {
      const [pool = '', resource = ''] = key.split(' ');
      return { pool, resource, used: used.get(key) ?? 0, limit };
    }),
    subnets: of(ADDRESSES_FREE).map(({ labels, value }) => {
      const name = labels['subnet'] ?? '';
      return { name, free: value, used: of(ADDRESSES_USED).find((each) => each.labels['subnet'] === name)?.value ?? 0 };
    }),
    failures: ledger
      .entries()
      .filter(({ kind }) => kind === 'launch-failure')
      .slice(-SHOWN_FAILURES)
      .reverse()
      .map(rowOf),
  };
}
