/**
 * DaemonSets: one pod on every node that takes it. In: DaemonSets and nodes. Out: pods that the scheduler may only bind
 * to their own node, and a rolling update within its bounds.
 */
import { Kinds, type ControllerRevision, type DaemonSet, type Node, type Pod } from '../../api/kinds.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { keyOf, refOf, watch } from '../../kube/runtime/watch.ts';
import { patchStatus } from '../../kube/statusPatch.ts';
import { matchesNodeAffinity } from '../scheduler/nodeAffinity.ts';
import { tolerates } from '../scheduler/tolerations.ts';
import { OwnedPods, type Template, type WorkloadOptions } from './ownedPods.ts';
import { isActive, isAvailable, isReady, isTerminal, untilNextAvailable } from './podState.ts';
import { Revisions, REVISION_LABEL } from './revisions.ts';
import { resolveShare } from './rollout.ts';
import { gathered } from './gathered.ts';

export interface DaemonSetOptions extends WorkloadOptions {
  readonly daemonSets: Informer<DaemonSet>;
  readonly nodes: Informer<Node>;
  readonly revisions: Informer<ControllerRevision>;
}

type PodSpec = NonNullable<Pod['spec']>;
type Toleration = NonNullable<PodSpec['tolerations']>[number];

/** A daemon stays on a node in trouble, and starts on one that is cordoned. */
const TOLERATED: readonly (readonly [string, Toleration['effect']])[] = [
  ['node.kubernetes.io/not-ready', 'NoExecute'],
  ['node.kubernetes.io/unreachable', 'NoExecute'],
  ['node.kubernetes.io/disk-pressure', 'NoSchedule'],
  ['node.kubernetes.io/memory-pressure', 'NoSchedule'],
  ['node.kubernetes.io/pid-pressure', 'NoSchedule'],
  ['node.kubernetes.io/unschedulable', 'NoSchedule'],
];
const FOR_HOST_NETWORK = ['node.kubernetes.io/network-unavailable', 'NoSchedule'] as const;

/** What the controller adds to a daemon's template, so that the pod fits one node and survives there. */
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

/** The node that a daemon's pod is for, bound or not. */
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

/** Whether a pod of the set should start on the node, and whether one that is there may stay. */
function fitOf(template: Template, node: Node): { readonly start: boolean; readonly stay: boolean } {
  const candidate: Pod = {
    metadata: { name: 'daemon' },
    spec: { containers: [], ...template.spec, ...daemonSpec(template, node.metadata.name) },
  };
  const labels = node.metadata.labels ?? {};
  if (!matchesNodeAffinity(candidate, { node, labels })) return { start: false, stay: false };
  const refused = (effects: readonly string[]): boolean =>
    (node.spec?.taints ?? []).some(
      (taint) => effects.includes(taint.effect) && !tolerates(candidate.spec?.tolerations, taint),
    );
  return { start: !refused(['NoSchedule', 'NoExecute']), stay: !refused(['NoExecute']) };
}

export function daemonSetController(options: DaemonSetOptions): Controller {
  const { kube, clock, random, log, daemonSets, nodes } = options;
  const owned = new OwnedPods(Kinds.DaemonSet, options);
  const revisions = new Revisions(kube, Kinds.DaemonSet, options.revisions);

  async function createPod(set: DaemonSet, node: string, hash: string): Promise<void> {
    const template = set.spec?.template;
    if (!template) return;
    await owned.create(set, template, {
      labels: { [REVISION_LABEL]: hash, 'pod-template-generation': String(set.metadata.generation ?? 1) },
      spec: daemonSpec(template, node),
    });
  }

  /** Pods of the old template go when the bounds allow; with surge the new pod comes first. */
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

  async function reconcile(key: string): Promise<ReconcileResult | undefined> {
    const set = daemonSets.store.get(refOf(key));
    if (!set?.spec || set.metadata.deletionTimestamp) return undefined;
    const { template } = set.spec;
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
    await roll(set, wanted, hash);
    const after = owned.of(set);
    await patchStatus(kube, Kinds.DaemonSet, set, { ...set, status: statusOf(set, after, hash) });
    const hashes = after.map(({ metadata }) => `${set.metadata.name}-${metadata.labels?.[REVISION_LABEL] ?? ''}`);
    await revisions.forget(set, set.spec.revisionHistoryLimit ?? 10, new Set([revision.metadata.name, ...hashes]));
    const wait = untilNextAvailable(after, set.spec.minReadySeconds ?? 0, clock.now());
    return wait === undefined ? undefined : { requeueAfter: wait };
  }

  /** A node matters to the sets when it comes, goes, or changes what decides who runs there. */
  const shape = ({ metadata, spec }: Node): string => JSON.stringify([metadata.labels, spec?.taints]);
  return reconciler({
    name: 'local.daemonset',
    concurrency: 4,
    clock,
    random,
    log,
    watches: [
      watch(daemonSets),
      owned.watch(),
      watch(nodes, (event) => {
        if (event.type === 'updated' && shape(event.old) === shape(event.object)) return [];
        return [...daemonSets.store.list()].map(keyOf);
      }),
    ],
    reconcile: gathered(clock, reconcile),
  });
}
