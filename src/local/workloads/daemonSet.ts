/** DaemonSets: creates one pod for every suitable node, which the scheduler can bind only there. */
import { Kinds, type DaemonSet, type Node, type Pod } from '../../api/kinds.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { keyOf, watch } from '../../kube/runtime/watch.ts';
import { matchesNodeAffinity } from '../../pods/nodeSelector.ts';
import { isActive, isTerminal } from '../../pods/podPredicates.ts';
import { untoleratedTaints } from '../../pods/taints.ts';
import { controlLoop, type ControlPlaneContext, type NextLook } from '../controlLoop.ts';
import { writeStatus } from '../writes.ts';
import { OwnedPods, type Template } from './ownedPods.ts';
import { isAvailable, isReady, untilNextAvailable } from './podState.ts';
import { Revisions, REVISION_LABEL } from './revisions.ts';
import { resolveShare } from '../../pods/rolloutBounds.ts';

type PodSpec = NonNullable<Pod['spec']>;
type Toleration = NonNullable<PodSpec['tolerations']>[number];

/** Tolerations of daemon pods: they stay on unhealthy nodes, and start on cordoned ones. */
const TOLERATED: readonly (readonly [string, Toleration['effect']])[] = [
  ['node.kubernetes.io/not-ready', 'NoExecute'],
  ['node.kubernetes.io/unreachable', 'NoExecute'],
  ['node.kubernetes.io/disk-pressure', 'NoSchedule'],
  ['node.kubernetes.io/memory-pressure', 'NoSchedule'],
  ['node.kubernetes.io/pid-pressure', 'NoSchedule'],
  ['node.kubernetes.io/unschedulable', 'NoSchedule'],
];
const FOR_HOST_NETWORK = ['node.kubernetes.io/network-unavailable', 'NoSchedule'] as const;

/** Returns the additions to the template: tolerations, and affinity to one node. */
function daemonSpec(template: Template, node: string): Partial<PodSpec> {
  const { spec } = template;
  const extra = [...TOLERATED, ...(spec?.hostNetwork ? [FOR_HOST_NETWORK] : [])].map(([key, effect]): Toleration => ({
    key,
    operator: 'Exists',
    ...(effect && { effect }),
  }));
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const matchFields = [{ key: 'metadata.name', operator: 'In' as const, values: [node] }];
  const terms = required?.nodeSelectorTerms.map((term) => ({ ...term, matchFields })) ?? [{ matchFields }];
  return {
    tolerations: [...(spec?.tolerations ?? []), ...extra],
    affinity: {
      ...spec?.affinity,
      nodeAffinity: {
        ...spec?.affinity?.nodeAffinity,
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms },
      },
    },
  };
}

/** Returns the node of a daemon pod, bound or not. */
function nodeOf(pod: Pod): string {
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return pod.spec?.nodeName ?? required?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0] ?? '';
}

function podsByNode(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  const groups = new Map<string, Pod[]>();
  for (const pod of pods) {
    const group = groups.get(nodeOf(pod));
    if (group) group.push(pod);
    else groups.set(nodeOf(pod), [pod]);
  }
  return groups;
}

/** Returns whether a pod of the set should start on the node, and whether an existing one may stay. */
function fitOf(template: Template, node: Node): { readonly start: boolean; readonly stay: boolean } {
  const candidate: Pod = {
    metadata: { name: 'daemon' },
    spec: { containers: [], ...template.spec, ...daemonSpec(template, node.metadata.name) },
  };
  if (!matchesNodeAffinity(candidate, node)) return { start: false, stay: false };
  const effects = new Set(
    untoleratedTaints(node.spec?.taints, candidate.spec?.tolerations).map(({ effect }) => effect),
  );
  const stay = !effects.has('NoExecute');
  return { start: stay && !effects.has('NoSchedule'), stay };
}

export function daemonSetController(context: ControlPlaneContext): Controller {
  const { kube, clock, informers, eventsOf } = context;
  const { daemonSets, nodes } = informers;
  const owned = new OwnedPods(Kinds.DaemonSet, context, eventsOf('daemonset-controller'));
  const revisions = new Revisions(Kinds.DaemonSet, context);

  async function createPod(set: DaemonSet, node: string, hash: string): Promise<void> {
    const template = set.spec?.template;
    if (!template) return;
    await owned.create(set, template, {
      labels: { [REVISION_LABEL]: hash, 'pod-template-generation': String(set.metadata.generation ?? 1) },
      spec: daemonSpec(template, node),
    });
  }

  /** Deletes pods of the old template within the bounds; with surge, after the new pod is available. */
  async function roll(set: DaemonSet, byNode: ReadonlyMap<string, readonly Pod[]>, hash: string): Promise<void> {
    if (set.spec?.updateStrategy?.type === 'OnDelete') return;
    const rolling = set.spec?.updateStrategy?.rollingUpdate;
    const wanted = byNode.size;
    const surge = resolveShare(rolling?.maxSurge, wanted, Math.ceil);
    const unavailable = Math.max(surge > 0 ? 0 : 1, resolveShare(rolling?.maxUnavailable ?? 1, wanted, Math.ceil));
    const minReady = set.spec?.minReadySeconds ?? 0;
    const now = clock.now();
    const isNew = (pod: Pod): boolean => pod.metadata.labels?.[REVISION_LABEL] === hash;
    const isUp = (pod: Pod): boolean => isActive(pod) && isAvailable(pod, minReady, now);
    let down = 0;
    let surging = 0;
    for (const pods of byNode.values()) {
      if (!pods.some(isUp)) down++;
      if (pods.filter(isActive).length > 1) surging++;
    }
    for (const [node, pods] of byNode) {
      const active = pods.filter(isActive);
      const old = active.filter((pod) => !isNew(pod));
      const current = active.find(isNew);
      if (old.length === 0) continue;
      if (surge > 0) {
        if (current && isUp(current)) for (const pod of old) await owned.delete(set, pod);
        else if (!current && surging < surge) {
          surging++;
          await createPod(set, node, hash);
        }
        continue;
      }
      for (const pod of old) {
        if (isUp(pod)) {
          if (down >= unavailable) continue;
          down++;
        }
        await owned.delete(set, pod);
      }
    }
  }

  function statusOf(set: DaemonSet, pods: readonly Pod[], hash: string): NonNullable<DaemonSet['status']> {
    const template = set.spec?.template ?? {};
    const now = clock.now();
    const minReady = set.spec?.minReadySeconds ?? 0;
    const live = pods.filter((pod) => !isTerminal(pod));
    const byNode = podsByNode(live);
    const status = { desired: 0, current: 0, misscheduled: 0, ready: 0, available: 0, updated: 0 };
    for (const node of nodes.store.list()) {
      const here = byNode.get(node.metadata.name) ?? [];
      if (!fitOf(template, node).start) {
        if (here.length > 0) status.misscheduled++;
        continue;
      }
      status.desired++;
      if (here.length === 0) continue;
      status.current++;
      const active = here.filter(isActive);
      if (active.some(isReady)) status.ready++;
      if (active.some((pod) => isAvailable(pod, minReady, now))) status.available++;
      if (active.some((pod) => pod.metadata.labels?.[REVISION_LABEL] === hash)) status.updated++;
    }
    return {
      observedGeneration: set.metadata.generation ?? 0,
      desiredNumberScheduled: status.desired,
      currentNumberScheduled: status.current,
      numberMisscheduled: status.misscheduled,
      numberReady: status.ready,
      numberAvailable: status.available,
      numberUnavailable: status.desired - status.available,
      updatedNumberScheduled: status.updated,
    };
  }

  async function reconcile(set: DaemonSet): Promise<NextLook> {
    if (!set.spec) return undefined;
    const { template, minReadySeconds = 0, revisionHistoryLimit = 10 } = set.spec;
    const revision = await revisions.current(set, template);
    const hash = revision.metadata.name.slice(set.metadata.name.length + 1);
    const pods = podsByNode(owned.of(set));
    const wanted = new Map<string, readonly Pod[]>();
    for (const node of [...nodes.store.list()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
      const { name } = node.metadata;
      const here = pods.get(name) ?? [];
      const { start, stay } = fitOf(template, node);
      for (const pod of here) {
        if (!pod.metadata.deletionTimestamp && (!stay || isTerminal(pod))) await owned.delete(set, pod);
      }
      if (!start) continue;
      wanted.set(name, here);
      if (here.every((pod) => isTerminal(pod))) await createPod(set, name, hash);
    }
    // Deletes unbound pods of deleted nodes, which the scheduler can never bind.
    for (const [name, here] of pods) {
      if (nodes.store.get({ name }) !== undefined) continue;
      for (const pod of here) if (!pod.spec?.nodeName && !pod.metadata.deletionTimestamp) await owned.delete(set, pod);
    }
    await roll(set, wanted, hash);
    const after = owned.of(set);
    await writeStatus(kube, Kinds.DaemonSet, set, statusOf(set, after, hash));
    const hashes = after.map(({ metadata }) => `${set.metadata.name}-${metadata.labels?.[REVISION_LABEL] ?? ''}`);
    await revisions.prune(set, revisionHistoryLimit, new Set([revision.metadata.name, ...hashes]));
    return untilNextAvailable(after, minReadySeconds, clock.now());
  }

  /** The fields of a node that decide whether a daemon pod runs on it. */
  const shape = ({ metadata, spec }: Node): string => JSON.stringify([metadata.labels, spec?.taints]);
  const onNodes = watch(nodes, (event) =>
    event.type === 'updated' && shape(event.old) === shape(event.object) ? [] : [...daemonSets.store.list()].map(keyOf),
  );
  return controlLoop(context, {
    name: 'daemonset',
    of: daemonSets,
    also: [owned.watch(), onNodes],
    concurrency: 4,
    gathers: true,
    reconcile,
  });
}
