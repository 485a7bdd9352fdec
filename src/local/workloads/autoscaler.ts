/**
 * HorizontalPodAutoscalers: every 15 s, scales each target by the usage of its ready pods (as in `kubectl top`), with
 * Kubernetes' formula, tolerance, policies and stabilization.
 */
import { Kinds, type Deployment, type HorizontalPodAutoscaler, type Pod } from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Controller } from '../../kube/runtime/controller.ts';
import { isActive } from '../../pods/podPredicates.ts';
import { Quantity } from '../../units/quantity.ts';
import { timestamp } from '../../units/timestamp.ts';
import { controllerOf, podsByOwner } from '../clusterInformers.ts';
import { controlLoop, type ControlPlaneContext, type NextLook } from '../controlLoop.ts';
import { requestedUsage, unloadedUsage } from '../metrics/podUsage.ts';
import { merge, transitionTime, writeStatus } from '../writes.ts';
import { addUsage, LOAD, loadAt, loadUsage, NO_USAGE, type Usage } from './loadModel.ts';
import { isReady } from './podState.ts';
import { desiredReplicas, ReplicaHistory, type Decision } from './replicaHistory.ts';

type Status = NonNullable<HorizontalPodAutoscaler['status']>;
type Numbers = Pick<Status, 'currentReplicas' | 'desiredReplicas' | 'currentMetrics' | 'lastScaleTime'>;
type Metric = NonNullable<NonNullable<HorizontalPodAutoscaler['spec']>['metrics']>[number];
/** Workloads that can be scaled all have `spec.replicas`. */
type Target = Pick<Deployment, 'metadata'> & { readonly spec?: { readonly replicas?: number } };
type Conditions = readonly (readonly [type: string, isTrue: boolean, reason: string, message: string])[];

const PERIOD = 15_000;

/** Sums over the ready pods of an owner: count, requests, and usage without a load annotation. */
interface Ready {
  readonly count: number;
  readonly requested: Usage;
  readonly unloaded: Usage;
  /** By resource: upstream's message if a container has no request, without which there is no utilization. */
  readonly unrequested: Readonly<Partial<Record<'cpu' | 'memory', string>>>;
}

const NONE: Ready = { count: 0, requested: NO_USAGE, unloaded: NO_USAGE, unrequested: {} };
const addReady = (left: Ready, right: Ready): Ready => ({
  count: left.count + right.count,
  requested: addUsage(left.requested, right.requested),
  unloaded: addUsage(left.unloaded, right.unloaded),
  unrequested: { ...left.unrequested, ...right.unrequested },
});

function readyPod(pod: Pod): Ready {
  const unrequested = (name: 'cpu' | 'memory'): Ready['unrequested'] => {
    const without = pod.spec?.containers.find(({ resources }) => resources?.requests?.[name] === undefined);
    return without
      ? { [name]: `missing request for ${name} in container ${without.name} of Pod ${pod.metadata.name}` }
      : {};
  };
  return {
    count: 1,
    requested: requestedUsage(pod),
    unloaded: unloadedUsage(pod),
    unrequested: { ...unrequested('cpu'), ...unrequested('memory') },
  };
}

interface Reading {
  /** Measured value divided by the target. */
  readonly ratio: number;
  readonly current: NonNullable<Status['currentMetrics']>[number];
}

/** Reads a metric of the ready pods; returns a message if that fails. */
function read({ type, resource }: Metric, used: Usage, ready: Ready): Reading | string {
  const { name, target } = resource ?? {};
  if (type !== 'Resource' || (name !== 'cpu' && name !== 'memory') || !target)
    return `unsupported metric source type "${type}"`;
  if (ready.count === 0)
    return `failed to get ${name} utilization: did not receive metrics for targeted pods (pods might be unready)`;
  const average = used[name] / ready.count;
  const averageValue = name === 'memory' ? String(Math.round(average)) : `${Math.round(average)}m`;
  const reading = (ratio: number, current: object): Reading => ({
    ratio,
    current: { type: 'Resource', resource: { name, current: { averageValue, ...current } } },
  });
  if (target.averageUtilization === undefined) {
    const wanted = (Quantity.tryParse(target.averageValue ?? '0')?.milliValue() ?? 0) / (name === 'memory' ? 1000 : 1);
    return wanted > 0 ? reading(average / wanted, {}) : `invalid target of ${name}`;
  }
  const missing = ready.unrequested[name];
  if (missing) return `failed to get ${name} utilization: ${missing}`;
  const averageUtilization = Math.trunc((Math.round(used[name]) * 100) / ready.requested[name]);
  return reading(averageUtilization / target.averageUtilization, { averageUtilization });
}

export function autoscalerController(context: ControlPlaneContext): Controller {
  const { kube, clock, informers, eventsOf } = context;
  const { pods, autoscalers, replicaSets } = informers;
  const events = eventsOf('horizontal-pod-autoscaler');
  const histories = new Map<string, ReplicaHistory>();
  /** Cache of sums by owner, invalidated when a pod changes. */
  const sums = new Map<string, Ready>();
  pods.subscribe(({ object }) => sums.delete(controllerOf(object)?.uid ?? ''));
  const targets: Readonly<Record<string, readonly [Informer<KubeObject>, ResourceKind<KubeObject>]>> = {
    Deployment: [informers.deployments as unknown as Informer<KubeObject>, Kinds.Deployment],
    StatefulSet: [informers.statefulSets as unknown as Informer<KubeObject>, Kinds.StatefulSet],
    ReplicaSet: [replicaSets as unknown as Informer<KubeObject>, Kinds.ReplicaSet],
  };

  async function reconcile(autoscaler: HorizontalPodAutoscaler, key: string): Promise<NextLook> {
    await look(autoscaler, key);
    return PERIOD;
  }

  async function look(autoscaler: HorizontalPodAutoscaler, key: string): Promise<void> {
    const { scaleTargetRef, metrics = [] } = autoscaler.spec ?? { scaleTargetRef: { kind: '', name: '' } };
    const history = histories.get(key) ?? new ReplicaHistory();
    histories.set(key, history);
    const [informer, kind] = targets[scaleTargetRef.kind] ?? [];
    const ref = { name: scaleTargetRef.name, namespace: autoscaler.metadata.namespace };
    const target = informer?.store.get(ref) as Target | undefined;
    if (!target?.spec || !kind) {
      const what = kind
        ? `${kind.plural}.${kind.group} "${ref.name}" not found`
        : `no kind "${scaleTargetRef.kind}" to scale`;
      const message = `the HPA controller was unable to get the target's current scale: ${what}`;
      events.say(Kinds.HorizontalPodAutoscaler, autoscaler, 'FailedGetScale', what, 'Warning');
      const none = { currentReplicas: 0, desiredReplicas: 0 };
      return report(autoscaler, none, [['AbleToScale', false, 'FailedGetScale', message]]);
    }
    const now = clock.now();
    const { replicas = 1 } = target.spec;
    const still: Numbers = { currentReplicas: replicas, desiredReplicas: replicas };
    if (replicas === 0) {
      const message = 'scaling is disabled since the replica count of the target is zero';
      return report(autoscaler, still, [ABLE, ['ScalingActive', false, 'ScalingDisabled', message]]);
    }
    const ready = readyOf(target);
    const text = target.metadata.annotations?.[LOAD] ?? autoscaler.metadata.annotations?.[LOAD];
    const load =
      text === undefined ? undefined : loadAt(text, Date.parse(target.metadata.creationTimestamp ?? ''), now);
    const used = load === undefined ? ready.unloaded : loadUsage(load);
    const answers = metrics.map((metric) => read(metric, used, ready));
    const readings = answers.filter((answer) => typeof answer !== 'string');
    if (readings.length === 0) {
      const why = answers.find((answer) => typeof answer === 'string') ?? 'no metrics are given';
      const message = `the HPA was unable to compute the replica count: ${why}`;
      events.say(Kinds.HorizontalPodAutoscaler, autoscaler, 'FailedGetResourceMetric', why, 'Warning');
      return report(autoscaler, still, [ABLE, ['ScalingActive', false, 'FailedGetResourceMetric', message]]);
    }
    const most = readings.reduce((left, right) => (right.ratio > left.ratio ? right : left));
    const decision = desiredReplicas(autoscaler, { replicas, ready: ready.count, ratio: most.ratio }, history, now);
    const { desired } = decision;
    if (desired !== replicas) {
      await merge(kube, kind, target, { spec: { replicas: desired } });
      history.noteScale(now, desired - replicas);
      const why = desired < replicas ? 'All metrics below target' : `${subjectOf(most)} above target`;
      const message = `New size: ${desired}; reason: ${why}`;
      events.say(Kinds.HorizontalPodAutoscaler, autoscaler, 'SuccessfulRescale', message);
    }
    const numbers: Numbers = {
      currentReplicas: replicas,
      desiredReplicas: desired,
      currentMetrics: readings.map(({ current }) => current),
      ...(desired !== replicas && { lastScaleTime: timestamp(now) }),
    };
    return report(autoscaler, numbers, decided(decision, replicas, most));
  }

  /** Returns the sums over the ready pods of a target and its ReplicaSets. */
  const readyOf = ({ metadata: { uid = '' } }: Target): Ready =>
    podsByOwner(uid, informers)
      .map(([owner, owned]) => sumOf(owner, owned))
      .reduce(addReady);

  function sumOf(owner: string, owned: readonly Pod[]): Ready {
    const known = sums.get(owner);
    if (known) return known;
    const sum = owned
      .filter((pod) => isActive(pod) && isReady(pod))
      .map(readyPod)
      .reduce(addReady, NONE);
    if (sum.count > 0) sums.set(owner, sum);
    return sum;
  }

  async function report(autoscaler: HorizontalPodAutoscaler, numbers: Numbers, conditions: Conditions): Promise<void> {
    const now = timestamp(clock.now());
    const { lastScaleTime } = autoscaler.status ?? {};
    const status: Status = {
      ...(lastScaleTime && { lastScaleTime }),
      currentMetrics: [],
      ...numbers,
      conditions: conditions.map(([type, isTrue, reason, message]) => {
        const status = isTrue ? 'True' : 'False';
        const lastTransitionTime = transitionTime(autoscaler.status?.conditions, type, status, now);
        return { type, status, reason, message, lastTransitionTime };
      }),
    };
    await writeStatus(kube, Kinds.HorizontalPodAutoscaler, autoscaler, status, { lock: false });
  }

  return controlLoop(context, {
    name: 'autoscaler',
    of: autoscalers,
    // Status changes are the controller's own writes.
    when: (event) => event.type !== 'updated' || event.old.spec !== event.object.spec,
    concurrency: 4,
    reconcile,
    gone: (key) => void histories.delete(key),
  });
}

const GOT_SCALE = "the HPA controller was able to get the target's current scale";
const ABLE = ['AbleToScale', true, 'SucceededGetScale', GOT_SCALE] as const;

/** Returns upstream's name of a metric, such as `cpu resource utilization (percentage of request)`. */
function subjectOf({ current: { resource } }: Reading): string {
  const how = resource?.current.averageUtilization === undefined ? '' : ' utilization (percentage of request)';
  return `${resource?.name ?? ''} resource${how}`;
}

function decided({ desired, limited, stabilized }: Decision, replicas: number, reading: Reading): Conditions {
  const reason = desired !== replicas ? 'SucceededRescale' : stabilized ? 'ScaleDownStabilized' : 'ReadyForNewScale';
  const able = {
    SucceededRescale: `the HPA controller was able to update the target scale to ${desired}`,
    ScaleDownStabilized:
      'recent recommendations were higher than current one, applying the highest recent recommendation',
    ReadyForNewScale: 'recommended size matches current size',
  };
  const active = `the HPA was able to successfully calculate a replica count from ${subjectOf(reading)}`;
  return [
    ['AbleToScale', true, reason, able[reason]],
    ['ScalingActive', true, 'ValidMetricFound', active],
    ['ScalingLimited', limited !== undefined, limited ?? 'DesiredWithinRange', LIMITS[limited ?? 'DesiredWithinRange']],
  ];
}

const LIMITS = {
  DesiredWithinRange: 'the desired count is within the acceptable range',
  TooManyReplicas: 'the desired replica count is more than the maximum replica count',
  TooFewReplicas: 'the desired replica count is less than the minimum replica count',
} as const;
