import { READY } from '../../api/conditionTypes.ts';
import type { Node, Pod } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import { isTerminal } from '../../pods/podPredicates.ts';
import type { InformerEvent } from '../../kube/informer.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import type { ObjectRef } from '../../kube/kube.ts';
import { keyOf, refOf } from '../../kube/runtime/watch.ts';
import { aborted } from '../../kube/runtime/windDown.ts';
import { SeriesKeeper, type Sample } from '../metrics/seriesKeeper.ts';
import type { World } from '../world/world.ts';
import { podMetrics } from './metrics.ts';

/**
 * The state of each pod, the waiting times of pending pods, and the durations of those that became bound and ready.
 * Durations are observed only for pods that this process saw pending.
 */
export function podMetricsController(world: World): Controller {
  const { clock, cluster, informers, podTimes } = world;
  const metrics = podMetrics(world.metrics);
  const states = new SeriesKeeper();
  const waits = new SeriesKeeper();
  /** UIDs of pods seen without a node, and of pods seen before they were ready. */
  const unbound = new Set<string>();
  const unstarted = new Map<string, ObjectRef>();

  function observe({ type, object: pod }: InformerEvent<Pod>): void {
    const uid = pod.metadata.uid ?? keyOf(pod);
    if (type === 'deleted') {
      states.remove(keyOf(pod));
      unbound.delete(uid);
      unstarted.delete(uid);
      return;
    }
    showState(pod);
    const created = Date.parse(pod.metadata.creationTimestamp ?? '');
    const planned = podTimes.placedAt(uid);
    if (pod.status?.phase === 'Pending') unstarted.set(uid, refOf(keyOf(pod)));
    if (!pod.spec?.nodeName && pod.status?.phase === 'Pending') unbound.add(uid);
    const boundAt = turnedTrue(pod, 'PodScheduled');
    if (boundAt !== undefined && unbound.delete(uid)) {
      metrics.bound.observe({}, seconds(created, boundAt));
      if (planned !== undefined) metrics.provisioningBound.observe({}, seconds(planned, boundAt));
    }
    const readyAt = turnedTrue(pod, READY);
    // A pod that has ended is no longer ready, and the time when it became ready is lost.
    if (isTerminal(pod)) unstarted.delete(uid);
    else if (readyAt !== undefined && unstarted.delete(uid)) {
      metrics.startup.observe({}, seconds(created, readyAt));
      if (planned !== undefined) metrics.provisioningStartup.observe({}, seconds(planned, readyAt));
    }
  }

  function waitSamples(pod: Pod): readonly Sample[] {
    const { name, namespace = '', uid = '', creationTimestamp } = pod.metadata;
    const labels = { name, namespace };
    const now = clock.now();
    const since = (gauge: Sample['gauge'], from: number | undefined): Sample[] =>
      from === undefined ? [] : [{ gauge, labels, value: seconds(from, now) }];
    const planned = podTimes.placedAt(uid);
    const waitsForNode = unbound.has(uid);
    return [
      ...since(metrics.unstarted, Date.parse(creationTimestamp ?? '')),
      ...since(metrics.provisioningUnstarted, planned),
      ...(waitsForNode ? since(metrics.unbound, Date.parse(creationTimestamp ?? '')) : []),
      ...(waitsForNode ? since(metrics.provisioningUnbound, planned) : []),
      ...(waitsForNode ? since(metrics.undecided, podTimes.undecidedSince(uid)) : []),
    ];
  }

  function showState(pod: Pod): void {
    const node = cluster.node(pod.spec?.nodeName ?? '');
    const labels = stateLabels(pod, node?.metadata.labels ?? {});
    // Most changes of a pod or a node do not affect these labels.
    states.set(keyOf(pod), Object.values(labels).join('\n'), () => [{ gauge: metrics.state, labels, value: 1 }]);
  }

  /** The series of pods carry labels of their node. */
  function observeNode(event: InformerEvent<Node>): void {
    const { metadata } = event.object;
    if (event.type === 'updated' && sameLabels(event.old.metadata.labels, metadata.labels)) return;
    for (const pod of cluster.podsOn(metadata.name)) showState(pod);
  }

  /** The provisioner's decisions about pending pods change without an event of the pod. */
  function refresh(): void {
    const waiting = new Map(
      [...unstarted].flatMap(([uid, ref]) => {
        const pod = cluster.pod(ref);
        return pod?.metadata.uid === uid ? [[keyOf(pod), pod]] : [];
      }),
    );
    for (const [key, pod] of waiting) waits.set(key, clock.now(), () => waitSamples(pod));
    waits.keepOnly(new Set(waiting.keys()));
  }

  return {
    name: 'metrics.pod',
    run: async (signal) => {
      const stops = [
        informers.pods.subscribe(observe),
        informers.nodes.subscribe(observeNode),
        world.metrics.beforeRead(refresh),
      ];
      await aborted(signal);
      for (const stop of stops) stop();
    },
  };
}

type LabelMap = Readonly<Record<string, string>>;

const sameLabels = (left: LabelMap = {}, right: LabelMap = {}): boolean =>
  left === right || JSON.stringify(left) === JSON.stringify(right);

const seconds = (from: number, to: number): number => Math.max(0, to - from) / 1000;

function turnedTrue({ status }: Pod, type: string): number | undefined {
  const found = status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');
  return found && Date.parse(found.lastTransitionTime ?? '');
}

function stateLabels(pod: Pod, node: Readonly<Record<string, string>>): Record<string, string> {
  const { name, namespace = '', ownerReferences = [] } = pod.metadata;
  const [owner] = ownerReferences;
  return {
    name,
    namespace,
    owner: owner ? `/apis/${owner.apiVersion}/namespaces/${namespace}/${owner.kind.toLowerCase()}s/${owner.name}` : '',
    node: pod.spec?.nodeName ?? '',
    scheduled: String(Boolean(pod.spec?.nodeName)),
    nodepool: node[Labels.nodePool] ?? '',
    zone: node[Labels.zone] ?? '',
    arch: node[Labels.arch] ?? '',
    capacity_type: node[Labels.capacityType] ?? '',
    instance_type: node[Labels.instanceType] ?? '',
    phase: pod.status?.phase ?? '',
    ready: String(turnedTrue(pod, READY) !== undefined),
    managed: String(Boolean(node[Labels.nodePool])),
  };
}
