/** Changes of pools for which no nodes are planned: another node class, or another node of a static pool. */
import { findCondition } from '../api/conditions.ts';
import { NodePoolConditions, READY } from '../api/conditionTypes.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Labels } from '../api/labels.ts';
import type { KubeObject } from '../api/object.ts';
import { podChangeText } from '../ledger/podChangeText.ts';
import type { PodState } from '../ledger/podStateText.ts';
import { waiting, type PodPicture, type PodProposal } from './podProposal.ts';
import { patchOf, podTarget, poolTarget } from './proposal.ts';

/** A pool that pods are not planned for, why, and what would change that. */
export interface BarredPool {
  readonly pool: string;
  readonly state: PodState;
  readonly proposals: readonly PodProposal[];
}

export function barredPools(picture: PodPicture): readonly BarredPool[] {
  return picture.pools.flatMap((pool): BarredPool[] => {
    const proposals = unusablePool(pool, picture);
    return proposals.length === 0 ? [] : [{ pool: pool.metadata.name, state: barredBy(pool), proposals }];
  });
}

function barredBy(pool: NodePool): PodState {
  const { template, replicas } = pool.spec;
  const nodePool = pool.metadata.name;
  const ofClass = findCondition(pool, NodePoolConditions.nodeClassReady);
  if (replicas !== undefined && ofClass?.status !== 'False') return { kind: 'static-pool', nodePool, replicas };
  const { kind, name } = template.spec.nodeClassRef;
  return { kind: 'node-class', nodePool, nodeClass: `${kind}/${name}`, message: ofClass?.message ?? '' };
}

/** A pool that pods are not planned for as it is: another class for it, or another node of a static one. */
export function unusablePool(pool: NodePool, picture: PodPicture): readonly PodProposal[] {
  const { pod, source, nodeClasses } = picture;
  const { metadata, spec, status } = pool;
  const { name } = metadata;
  if (metadata.deletionTimestamp !== undefined) return [];
  const conditions = status?.conditions ?? [];
  const bad = conditions.filter(({ type, status: state }) => type !== READY && state === 'False');
  const proposals: PodProposal[] = [];
  const { group, kind, name: from } = spec.template.spec.nodeClassRef;
  if (bad.length === 1 && bad[0]?.type === NodePoolConditions.nodeClassReady) {
    const others = nodeClasses.filter(
      (each) => each.kind === kind && each.apiVersion?.startsWith(`${group}/`) === true && isReady(each),
    );
    const repaired = conditions.map((each) =>
      each.type === READY || each.type === NodePoolConditions.nodeClassReady ? { ...each, status: 'True' } : each,
    );
    for (const { metadata: to } of others.slice(0, 2)) {
      const patch = { spec: { template: { spec: { nodeClassRef: { name: to.name } } } } };
      proposals.push({
        sentence: podChangeText({ kind: 'node-class', pool: name, from, to: to.name }),
        patches: [patchOf(poolTarget(name), patch)],
        effects: [patchOf(poolTarget(name), { status: { conditions: repaired } })],
        source,
      });
    }
  }
  if (spec.replicas !== undefined && bad.length === 0) proposals.push(...moreReplicas(pool, spec.replicas, picture));
  return pod.metadata.deletionTimestamp === undefined ? proposals : [];
}

/** Limit on nodes that one proposal adds to a static pool. */
const MOST_REPLICAS = 20;

/** Adds up to as many nodes to a static pool as the owner's waiting pods may need. */
function moreReplicas(pool: NodePool, from: number, picture: PodPicture): readonly PodProposal[] {
  const { name } = pool.metadata;
  const type = picture.cheapestType(name);
  if (type !== undefined) return moreOf(pool, from, picture, { type });
  const keys = new Set(pool.spec.template.spec.requirements.map(({ key }) => key));
  const without = [...keys].flatMap((drop) => {
    const found = picture.cheapestType(name, drop);
    return found === undefined ? [] : moreOf(pool, from, picture, { type: found, drop });
  });
  // Types may be unknown.
  return without.length === 0 ? moreOf(pool, from, picture, {}) : without;
}

/** The instance type of new nodes, and the label on which the pool must have no requirement for that. */
interface Sold {
  readonly type?: string;
  readonly drop?: string;
}

function moreOf(pool: NodePool, from: number, picture: PodPicture, { type, drop }: Sold): readonly PodProposal[] {
  const { source, poolNodes, siblings } = picture;
  const { metadata, spec } = pool;
  const { name } = metadata;
  // Other waiting pods may take the first new nodes.
  const ownPods = waiting(siblings).length + 1;
  const most = Math.min(MOST_REPLICAS, Math.max(picture.waitingPods, ownPods));
  const ahead = (picture.pod.spec?.priority ?? 0) + 1;
  const first = picture.rivals.map((rival) =>
    patchOf(podTarget(rival), { spec: { priority: Math.max(ahead, rival.spec?.priority ?? 0) } }),
  );
  const own = spec.template.spec.requirements.filter(({ key }) => key !== drop);
  // A static pool cannot be told in which zone its next node is needed.
  const isInOneZone = own.some(({ key, values }) => key === Labels.zone && values?.length === 1);
  const sold = isInOneZone ? [] : picture.zones.filter((zone) => picture.isSoldIn(name, zone));
  const zones = sold.length === 0 ? [undefined] : sold.slice(0, MOST_ZONES);
  const grown = (zone: string | undefined, more: number): PodProposal => {
    const pinned = zone === undefined ? own : [...own.filter(({ key }) => key !== Labels.zone), inZone(zone)];
    const assumed = [
      ...pinned.filter(({ key }) => key !== Labels.instanceType),
      ...(type === undefined ? [] : [{ key: Labels.instanceType, operator: 'In', values: [type] }]),
    ];
    const template = { spec: { requirements: assumed } };
    const today = poolNodes.get(name) ?? 0;
    // Where none could be bought, those that are missing come first.
    const replicas = drop === undefined ? from + more : Math.max(from, today + more);
    const nodes = drop === undefined ? Math.max(from, today) + more : replicas;
    const wanted = zone === undefined && drop === undefined ? {} : { template: { spec: { requirements: pinned } } };
    const rest = { ...(zone && { zone }), ...(drop && { drop }) };
    return {
      sentence: podChangeText({ kind: 'replicas', pool: name, from, to: replicas, ...rest }),
      patches: [patchOf(poolTarget(name), { spec: { replicas, ...wanted } })],
      // As if the pool had grown by these nodes and other pods took their places first.
      effects: [
        patchOf(poolTarget(name), { spec: { replicas: null, limits: { nodes: String(nodes) }, template } }),
        ...first,
      ],
      source,
    };
  };
  // With rivals, the scheduler decides which pods get the new nodes: only enough nodes for all are certain to help.
  const counts = picture.rivals.length === 0 ? new Set([1, ownPods, most]) : [most];
  return [...counts].flatMap((more) => zones.map((zone) => grown(zone, more)));
}

const MOST_ZONES = 2;

const inZone = (zone: string) => ({ key: Labels.zone, operator: 'In' as const, values: [zone] });

function isReady(object: KubeObject): boolean {
  const { conditions = [] } =
    (object as { status?: { conditions?: readonly { type: string; status: string }[] } }).status ?? {};
  return (
    object.metadata.deletionTimestamp === undefined &&
    conditions.some(({ type, status }) => type === READY && status === 'True')
  );
}
