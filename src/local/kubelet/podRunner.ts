/** Runs the pods bound to nodes, as their kubelets: start, readiness, resize, end. */
import { Kinds, type Pod } from '../../api/kinds.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { keyOf, type Watch } from '../../kube/runtime/watch.ts';
import { isActive, isTerminal } from '../../pods/podPredicates.ts';
import { podRequests } from '../../pods/podRequests.ts';
import { addResources, parseResources, quantityOf } from '../../units/resources.ts';
import { timestamp } from '../../units/timestamp.ts';
import { BY_NODE } from '../clusterInformers.ts';
import { controlLoop, type LoopContext, type NextLook } from '../controlLoop.ts';
import { deletePod, patchPodStatus, unlessReplaced } from '../writes.ts';
import type { FailedPull } from './imagePulls.ts';
import { killing, pullFailed, started, type EventText } from './kubeletEvents.ts';
import type { InstancePace } from './instance.ts';
import {
  actuated,
  allocated,
  deferred,
  needsActuation,
  needsAllocation,
  withdrawn,
  type ResizeStep,
} from './podResize.ts';
import {
  creatingStatus,
  endedStatus,
  podAddress,
  preStopDelay,
  pullingStatus,
  readinessDelay,
  readyStatus,
  runningStatus,
  stopDelay,
} from './podStatus.ts';

export interface KubeletOptions extends LoopContext {
  /** Untrimmed pods, indexed by node. */
  readonly pods: Informer<Pod>;
  readonly pace: InstancePace;
  /** Returns the pods with an address. */
  readonly podsAt?: (address: string) => readonly Pod[];
  /** Whether all disks of a pod are attached; always by default. */
  readonly volumesReady?: (pod: Pod) => boolean;
  /** Returns an image of the pod that its node cannot pull; none by default. */
  readonly failedPull?: (pod: Pod) => FailedPull | undefined;
}

interface PodRunnerOptions extends KubeletOptions {
  /** Returns the address of a node whose kubelet is ready to run pods; undefined otherwise. */
  readonly hostAddress: (node: string) => string | undefined;
  readonly record: (pod: Pod, events: readonly EventText[], type?: 'Warning') => void;
}

/** Milliseconds between checks whether disks are attached. */
const VOLUME_WAIT = 1_000;
/** Milliseconds of back-off between attempts to pull an image. */
const PULL_RETRY = 10_000;
/** Milliseconds between attempts of a deferred resize. */
const RESIZE_RETRY = 10_000;

export class PodRunner {
  private readonly options: PodRunnerOptions;
  /** Time at which each pod was first seen on its node. */
  private readonly seenAt = new Map<string, number>();
  /** UIDs of pods whose Killing event was recorded. */
  private readonly ending = new Map<string, string | undefined>();
  private wake: (key: string) => void = () => undefined;

  constructor(options: PodRunnerOptions) {
    this.options = options;
  }

  /** Queues all pods of a node whose kubelet has just started. */
  wakeNode(name: string): void {
    for (const pod of this.options.pods.store.byIndex(BY_NODE, name)) this.wake(keyOf(pod));
  }

  controller(): Controller {
    const wakes: Watch = {
      start: (enqueue) => {
        this.wake = enqueue;
        return () => (this.wake = () => undefined);
      },
    };
    return controlLoop(this.options, {
      name: 'kubelet.pod',
      of: this.options.pods,
      when: ({ object }) => object.spec?.nodeName !== undefined,
      also: [wakes],
      concurrency: 64,
      untilGone: true,
      reconcile: (pod, key) => this.reconcile(pod, key),
      gone: (key) => this.forget(key),
    });
  }

  private async reconcile(pod: Pod, key: string): Promise<NextLook> {
    const hostIP = this.options.hostAddress(pod.spec?.nodeName ?? '');
    if (hostIP === undefined) return undefined;
    const now = this.options.clock.now();
    if (pod.metadata.deletionTimestamp) return this.end(key, pod, now);
    if (pod.status?.phase === 'Running') return (await this.resize(pod, now)) ?? this.ready(pod, now);
    return pod.status?.phase === 'Pending' ? this.start(key, pod, hostIP, now) : undefined;
  }

  private forget(key: string): void {
    this.seenAt.delete(key);
    this.ending.delete(key);
  }

  private async start(key: string, pod: Pod, hostIP: string, now: number): Promise<NextLook> {
    const { pace, volumesReady, record } = this.options;
    const seenAt = this.seenAt.get(key) ?? now;
    this.seenAt.set(key, seenAt);
    const due = seenAt + pace.podStart * (1 + (pod.spec?.initContainers ?? []).length);
    const wait = now < due ? due - now : volumesReady?.(pod) === false ? VOLUME_WAIT : 0;
    if (wait > 0) {
      // The status before the start is written only for pods that do not run at once.
      const isReported = (pod.status?.containerStatuses ?? []).length > 0;
      if (!isReported) await this.report(pod, creatingStatus(pod, timestamp(now), { hostIP }));
      return wait;
    }
    const failed = this.options.failedPull?.(pod);
    if (failed !== undefined) {
      await this.report(pod, pullingStatus(pod, timestamp(now), { hostIP }, failed));
      record(pod, pullFailed(failed), 'Warning');
      return PULL_RETRY;
    }
    const podIP = pod.spec?.hostNetwork === true ? hostIP : this.addressOf(pod);
    await this.report(pod, runningStatus(pod, timestamp(now), { hostIP, podIP }, readinessDelay(pod) === 0));
    record(pod, started(pod));
    return undefined;
  }

  /** Reports readiness when the probes of a running pod succeed. */
  private async ready(pod: Pod, now: number): Promise<NextLook> {
    const statuses = pod.status?.containerStatuses ?? [];
    const delay = readinessDelay(pod);
    const isRunning = statuses.every(({ state }) => state?.running !== undefined);
    const isWaiting = statuses.some(({ ready }) => !ready);
    if (delay === 0 || !Number.isFinite(delay) || !isRunning || !isWaiting) return undefined;
    const due = Math.max(...statuses.map(({ state }) => Date.parse(state?.running?.startedAt ?? ''))) + delay;
    if (now < due) return due - now;
    await this.report(pod, readyStatus(pod, timestamp(now)));
    return undefined;
  }

  private async resize(pod: Pod, now: number): Promise<NextLook> {
    const at = timestamp(now);
    if (needsAllocation(pod)) {
      const lack = await this.lackFor(pod);
      await this.take(pod, lack === undefined ? allocated(pod, at) : deferred(pod, lack, at));
      return lack === undefined ? undefined : RESIZE_RETRY;
    }
    await this.take(pod, needsActuation(pod) ? actuated(pod, at) : withdrawn(pod));
    return undefined;
  }

  private async take(pod: Pod, step: ResizeStep | undefined): Promise<void> {
    if (step === undefined) return;
    await this.report(pod, step.status);
    this.options.record(pod, step.events, step.isWarning ? 'Warning' : undefined);
  }

  /** Returns the kubelet's message about what the node lacks for a resize; undefined if it fits. */
  private async lackFor({ metadata, spec }: Pod): Promise<string | undefined> {
    const { kube, pods } = this.options;
    const name = spec?.nodeName ?? '';
    const node = await kube.get(Kinds.Node, { name });
    const others = pods.store
      .byIndex(BY_NODE, name)
      .filter((pod) => isActive(pod) && pod.metadata.uid !== metadata.uid);
    const used = addResources(...others.map(podRequests));
    const wanted = podRequests({ metadata, ...(spec && { spec }) });
    const capacity = parseResources(node.status?.allocatable);
    for (const resource of ['cpu', 'memory'] as const) {
      const value = (of: typeof used): number =>
        resource === 'cpu' ? quantityOf(of, resource).milliValue() : quantityOf(of, resource).value();
      const [requested, taken, has] = [value(wanted), value(used), value(capacity)];
      if (requested + taken <= has) continue;
      return `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${taken}, capacity: ${has}`;
    }
    return undefined;
  }

  /** Ends the containers of a deleted pod within its grace period, then removes it. */
  private async end(key: string, pod: Pod, now: number): Promise<NextLook> {
    const { kube, pace, record } = this.options;
    const grace = (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000;
    const asked = Date.parse(pod.metadata.deletionTimestamp ?? '') - grace;
    const due = asked + Math.min(grace, preStopDelay(pod) + stopDelay(pod, pace.podStop));
    const isOver = isTerminal(pod);
    if (!isOver && now < due) {
      if (this.ending.get(key) !== pod.metadata.uid) record(pod, killing(pod));
      this.ending.set(key, pod.metadata.uid);
      return due - now;
    }
    this.forget(key);
    // Controllers with a finalizer on the pod need its final status.
    if (!isOver && (pod.metadata.finalizers ?? []).length > 0) await this.report(pod, endedStatus(pod, timestamp(now)));
    await deletePod(kube, pod, 0);
    return undefined;
  }

  private report(pod: Pod, status: object): Promise<void> {
    return unlessReplaced(patchPodStatus(this.options.kube, pod, status));
  }

  private addressOf(pod: Pod): string {
    const { uid, name } = pod.metadata;
    const isTaken = (address: string): boolean =>
      this.options.podsAt?.(address).some(({ metadata }) => metadata.uid !== uid) ?? false;
    return podAddress(uid ?? name, isTaken);
  }
}
