/** Spot nodes: their cost, their on-demand cost, and which ones are about to be evicted. */
import { Labels } from '../../api/labels.ts';
import type { InstanceType } from '../../cloud/instanceType.ts';
import { typesByName } from '../../disruption/candidate.ts';
import { priceOf } from '../../disruption/costs.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Frame } from '../feed.ts';
import type { SpotScreen } from '../screens.ts';
import { rowOf } from './decisions.ts';

const SHOWN_FAILURES = 30;
/** Node conditions that announce the removal of the instance. */
const LEAVING: ReadonlySet<string> = new Set(['PreemptionScheduled', 'VMEventScheduled']);

type Group = SpotScreen['groups'][number];

export function spotScreen({ time, rows, picture }: Frame, ledger: Ledger): SpotScreen {
  const groups = new Map<string, Group>();
  let [spotNodes, spotPerHour, onDemandPerHour, bill] = [0, 0, 0, 0];
  const leaving: { node: string; reason: string }[] = [];
  picture.views.forEach((view, at) => {
    const row = rows[at];
    if (row === undefined) return;
    bill += row.price;
    if (row.capacityType !== 'spot') return;
    const type = typeOf(picture.pools.get(row.nodePool)?.instanceTypes, view.labels[Labels.instanceType]);
    const onDemandPrice = priceOf(type, row.zone, 'on-demand');
    spotNodes += 1;
    spotPerHour += row.price;
    onDemandPerHour += onDemandPrice;
    const key = `${row.instanceType} ${row.zone}`;
    groups.set(key, {
      instanceType: row.instanceType,
      zone: row.zone,
      nodes: (groups.get(key)?.nodes ?? 0) + 1,
      price: row.price,
      onDemandPrice,
      isOffered:
        type?.offerings.some(
          (offering) => offering.zone === row.zone && offering.capacityType === 'spot' && offering.available,
        ) ?? false,
    });
    const notice = view.node?.status?.conditions?.find((each) => LEAVING.has(each.type) && each.status === 'True');
    if (notice !== undefined) leaving.push({ node: row.name, reason: notice.reason ?? notice.type });
  });
  return {
    time,
    spotNodes,
    spotPerHour,
    onDemandPerHour,
    shareOfNodes: rows.length === 0 ? 0 : spotNodes / rows.length,
    shareOfBill: bill === 0 ? 0 : spotPerHour / bill,
    groups: [...groups.values()].sort((left, right) => right.nodes - left.nodes),
    leaving,
    failures: ledger
      .entries()
      .filter((entry) => entry.kind === 'launch-failure' && entry.planned?.capacityType === 'spot')
      .slice(-SHOWN_FAILURES)
      .reverse()
      .map(rowOf),
  };
}

function typeOf(types: readonly InstanceType[] | undefined, name: string | undefined): InstanceType | undefined {
  return types === undefined ? undefined : typesByName(types).get(name ?? '');
}
