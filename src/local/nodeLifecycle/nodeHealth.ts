/**
 * Node health: sets the conditions of a node to Unknown when its kubelet has not renewed its lease for the grace period,
 * and sets taints by conditions.
 */
import { Kinds, type Node } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { watch } from '../../kube/runtime/watch.ts';
import { timestamp } from '../../units/timestamp.ts';
import { controlLoop, soonest, type ControlPlaneContext, type NextLook } from '../controlLoop.ts';
import { isReady } from '../workloads/podState.ts';
import { ZoneDisruption, type ZoneCount } from './zoneDisruption.ts';

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];
type Condition = NonNullable<NonNullable<Node['status']>['conditions']>[number];

const LEASES = 'kube-node-lease';
const GRACE = 40_000;
const STARTUP_GRACE = 60_000;
/** Milliseconds until the next check of a node that must not be evicted now. */
const PERIOD = 5_000;
const CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const CORDONED = 'node.kubernetes.io/unschedulable';
/** Condition, status, and the taints that follow from them. */
const BY_CONDITION: readonly (readonly [string, Condition['status'], string, readonly Taint['effect'][]])[] = [
  ['Ready', 'False', NOT_READY, ['NoSchedule', 'NoExecute']],
  ['Ready', 'Unknown', UNREACHABLE, ['NoSchedule', 'NoExecute']],
  ['MemoryPressure', 'True', 'node.kubernetes.io/memory-pressure', ['NoSchedule']],
  ['DiskPressure', 'True', 'node.kubernetes.io/disk-pressure', ['NoSchedule']],
  ['PIDPressure', 'True', 'node.kubernetes.io/pid-pressure', ['NoSchedule']],
  ['NetworkUnavailable', 'True', 'node.kubernetes.io/network-unavailable', ['NoSchedule']],
];
const MANAGED = new Set([...BY_CONDITION.map(([, , key]) => key), CORDONED]);

/** Whether a taint evicts pods from a lost node. */
const evicts = ({ key, effect }: Taint): boolean =>
  effect === 'NoExecute' && (key === NOT_READY || key === UNREACHABLE);

/** Returns the taints that a node should have: those of other writers, and those that follow from its conditions. */
export function wantedTaints(node: Node, now: number): Taint[] {
  const before = node.spec?.taints ?? [];
  const conditions = node.status?.conditions ?? [];
  const own: Taint[] = BY_CONDITION.flatMap(([type, status, key, effects]) =>
    conditions.some((condition) => condition.type === type && condition.status === status)
      ? effects.map((effect) => ({ key, effect }))
      : [],
  );
  if (node.spec?.unschedulable) own.push({ key: CORDONED, effect: 'NoSchedule' });
  const kept = before.filter(({ key }) => !MANAGED.has(key));
  const timed = own.map((taint): Taint => {
    const known = before.find(({ key, effect }) => key === taint.key && effect === taint.effect);
    const isTimed = taint.effect === 'NoExecute' || taint.key === CORDONED;
    return known ?? (isTimed ? { ...taint, timeAdded: timestamp(now) } : taint);
  });
  return [...kept, ...timed];
}

const same = (left: readonly Taint[], right: readonly Taint[]): boolean => {
  const textOf = (taints: readonly Taint[]): string =>
    taints
      .map(({ key, value, effect }) => `${key}=${value ?? ''}:${effect}`)
      .sort()
      .join();
  return textOf(left) === textOf(right);
};

const zoneOf = ({ metadata }: Node): string => metadata.labels?.[Labels.zone] ?? '';

export function nodeHealthController(context: ControlPlaneContext): Controller {
  const { kube, clock, informers, eventsOf } = context;
  const { nodes, leases } = informers;
  const events = eventsOf('node-controller');
  const disruption = new ZoneDisruption();
  let counted: { readonly at: number; readonly zones: ReadonlyMap<string, ZoneCount> } | undefined;
  /** The last heartbeat of each node, with the time of its arrival, because the kubelet's clock may be wrong. */
  const heartbeats = new Map<string, { readonly content: string; readonly at: number }>();
  const registered = new Map<string, Node>();

  function lastHeartbeat(name: string): { readonly at: number } {
    const renewed = leases.store.get({ name, namespace: LEASES })?.spec?.renewTime;
    const ready = nodes.store.get({ name })?.status?.conditions?.find(({ type }) => type === 'Ready');
    const content = `${renewed} ${ready?.lastHeartbeatTime}`;
    const known = heartbeats.get(name);
    if (known?.content === content) return known;
    const heartbeat = { content, at: clock.now() };
    heartbeats.set(name, heartbeat);
    return heartbeat;
  }

  function forget(name: string): void {
    const seen = registered.get(name);
    const message = `Node ${name} event: Removing Node ${name} from Controller`;
    if (seen) events.say(Kinds.Node, seen, 'RemovingNode', message);
    registered.delete(name);
    heartbeats.delete(name);
  }

  async function reconcile(node: Node, name: string): Promise<NextLook> {
    if (!registered.has(name)) {
      events.say(Kinds.Node, node, 'RegisteredNode', `Node ${name} event: Registered Node ${name} in Controller`);
    }
    registered.set(name, node);
    const silent = clock.now() - lastHeartbeat(name).at;
    const hasLease = leases.store.get({ name, namespace: LEASES }) !== undefined;
    const grace = hasLease ? GRACE : STARTUP_GRACE;
    const lost = silent >= grace;
    const current = lost ? await markUnknown(node) : node;
    const wanted = wantedTaints(current, clock.now());
    const known = (current.spec?.taints ?? []).some(evicts);
    // The rate of evictions is limited; a node that must not be evicted now is checked again.
    const turn = known || !wanted.some(evicts) ? 0 : (disruption.wait(zoneOf(current), zones(), clock.now()) ?? PERIOD);
    const taints = turn === 0 ? wanted : wanted.filter((taint) => !evicts(taint));
    if (!same(taints, current.spec?.taints ?? [])) {
      const { resourceVersion } = current.metadata;
      const body = { metadata: { resourceVersion }, spec: { taints } };
      await kube.patch(Kinds.Node, { name }, { type: 'merge', body });
    }
    return soonest(lost ? undefined : grace - silent, turn === 0 ? undefined : turn);
  }

  function zones(): ReadonlyMap<string, ZoneCount> {
    // Counts once per moment, because thousands of nodes may join at the same time.
    if (counted?.at === clock.now()) return counted.zones;
    const counts = new Map<string, ZoneCount>();
    counted = { at: clock.now(), zones: counts };
    for (const node of nodes.store.list()) {
      const count = counts.get(zoneOf(node)) ?? { ready: 0, lost: 0 };
      counts.set(zoneOf(node), count);
      if (isReady(node)) count.ready++;
      else count.lost++;
    }
    return counts;
  }

  async function markUnknown(node: Node): Promise<Node> {
    const before = node.status?.conditions ?? [];
    const now = timestamp(clock.now());
    const stale = CONDITIONS.flatMap((type): Condition[] => {
      const known = before.find((condition) => condition.type === type);
      if (known?.status === 'Unknown') return [];
      const [reason, message] = known
        ? ['NodeStatusUnknown', 'Kubelet stopped posting node status.']
        : ['NodeStatusNeverUpdated', 'Kubelet never posted node status.'];
      return [{ ...known, type, status: 'Unknown', reason, message, lastTransitionTime: now }];
    });
    if (stale.length === 0) return node;
    const { name } = node.metadata;
    if (isReady(node)) events.say(Kinds.Node, node, 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
    const patch = { type: 'strategic' as const, body: { status: { conditions: stale } } };
    return (await ignoreNotFound(kube.patch(Kinds.Node, { name }, patch, { subresource: 'status' }))) ?? node;
  }

  // A renewed lease needs a reconcile only if the node is lost.
  const onLeases = watch(leases, ({ object }) => {
    const node = nodes.store.get({ name: object.metadata.name });
    if (!node || object.metadata.namespace !== LEASES) return [];
    lastHeartbeat(object.metadata.name);
    const isLost = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'Unknown');
    return isLost ? [object.metadata.name] : [];
  });
  return controlLoop(context, {
    name: 'nodelifecycle',
    of: nodes,
    also: [onLeases],
    concurrency: 16,
    untilGone: true,
    reconcile,
    gone: forget,
  });
}
