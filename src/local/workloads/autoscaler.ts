/**
 * Horizontal pod autoscalers. In: autoscalers, their targets and the load that `local.nodewright.dev/load` on either
 * describes. Out: replicas, decided every 15 s by Kubernetes' formula, tolerance, policies and stabilisation.
 */
import {
  Kinds,
  type Deployment,
  type HorizontalPodAutoscaler,
  type ReplicaSet,
  type StatefulSet,
} from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import type { Informer } from '../../kube/informer.ts';
import type { Controller, ReconcileResult } from '../../kube/runtime/controller.ts';
import { reconciler } from '../../kube/runtime/reconciler.ts';
import { keyOf, refOf, watch } from '../../kube/runtime/watch.ts';
import { patchStatus } from '../../kube/statusPatch.ts';
import { Quantity } from '../../units/quantity.ts';
import { timestamp } from '../../units/timestamp.ts';
import { podRequests } from '../scheduler/podRequests.ts';
import { quantityOf } from '../../units/resources.ts';
import { LOAD, loadAt } from './loadModel.ts';
import { BY_CONTROLLER, controllerOf } from './ownedObjects.ts';
import type { WorkloadOptions } from './ownedPods.ts';
import { isActive, isReady } from './podState.ts';
import { desiredReplicas, ReplicaHistory } from './replicaHistory.ts';

export interface AutoscalerOptions extends WorkloadOptions {
  readonly autoscalers: Informer<HorizontalPodAutoscaler>;
  readonly deployments: Informer<Deployment>;
  readonly statefulSets: Informer<StatefulSet>;
  readonly replicaSets: Informer<ReplicaSet>;
}

type Status = NonNullable<HorizontalPodAutoscaler['status']>;
type Metric = NonNullable<NonNullable<HorizontalPodAutoscaler['spec']>['metrics']>[number];
type Target = Deployment | StatefulSet | ReplicaSet;

const PERIOD = 15_000;

/** Ready pods: how many, and what they ask for, in millicores and bytes. */
interface Ready {
  readonly count: number;
  readonly cpu: number;
  readonly memory: number;
}

const NOBODY: Ready = { count: 0, cpu: 0, memory: 0 };
const addReady = (left: Ready, right: Ready): Ready => ({
  count: left.count + right.count,
  cpu: left.cpu + right.cpu,
  memory: left.memory + right.memory,
});

interface Reading {
  readonly ratio: number;
  readonly current: NonNullable<Status['currentMetrics']>[number];
}

export function autoscalerController(options: AutoscalerOptions): Controller {
  const { kube, clock, random, log, pods, autoscalers, events } = options;
  const histories = new Map<string, ReplicaHistory>();
  /** Sums over the pods of an owner, until one of them changes. */
  const sums = new Map<string, Ready>();
  pods.subscribe(({ object }) => sums.delete(controllerOf(object)?.uid ?? ''));
  const targets: Readonly<Record<string, [Informer<Target>, ResourceKind<KubeObject>]>> = {
    Deployment: [options.deployments as Informer<Target>, Kinds.Deployment],
    StatefulSet: [options.statefulSets as unknown as Informer<Target>, Kinds.StatefulSet],
    ReplicaSet: [options.replicaSets as unknown as Informer<Target>, Kinds.ReplicaSet],
  };

  /** What one metric says: the share of the target that each ready pod uses now. */
  function read(metric: Metric, load: number, ready: Ready): Reading | undefined {
    const { name, target } = metric.resource ?? {};
    if (metric.type !== 'Resource' || !name || !target || ready.count === 0) return undefined;
    // The load is given in cores; memory follows it, a GiB for a core.
    const isMemory = name === 'memory';
    const demand = isMemory ? load * 2 ** 30 : load * 1000;
    const requested = isMemory ? ready.memory : ready.cpu;
    const average = demand / ready.count;
    const averageValue = isMemory ? String(Math.round(average)) : `${Math.round(average)}m`;
    if (target.averageUtilization !== undefined) {
      if (requested === 0) return undefined;
      const averageUtilization = Math.round((demand / requested) * 100);
      const resource = { name, current: { averageValue, averageUtilization } };
      return { ratio: averageUtilization / target.averageUtilization, current: { type: 'Resource', resource } };
    }
    const wanted = (Quantity.tryParse(target.averageValue ?? '0')?.milliValue() ?? 0) / (isMemory ? 1000 : 1);
    if (!(wanted > 0)) return undefined;
    return { ratio: average / wanted, current: { type: 'Resource', resource: { name, current: { averageValue } } } };
  }

  async function reconcile(key: string): Promise<ReconcileResult | undefined> {
    const autoscaler = autoscalers.store.get(refOf(key));
    if (!autoscaler?.spec || autoscaler.metadata.deletionTimestamp) {
      histories.delete(key);
      return undefined;
    }
    const history = histories.get(key) ?? new ReplicaHistory();
    histories.set(key, history);
    const now = clock.now();
    const { scaleTargetRef, metrics = [] } = autoscaler.spec;
    const { namespace } = autoscaler.metadata;
    const [informer, kind] = targets[scaleTargetRef.kind] ?? [];
    const target = informer?.store.get({ name: scaleTargetRef.name, namespace });
    const again = { requeueAfter: PERIOD };
    if (!target?.spec || !kind) {
      await report(
        autoscaler,
        { currentReplicas: 0, desiredReplicas: 0 },
        'FailedGetScale',
        'the target was not found',
      );
      return again;
    }
    const replicas = target.spec.replicas ?? 1;
    const text = target.metadata.annotations?.[LOAD] ?? autoscaler.metadata.annotations?.[LOAD];
    const load =
      text === undefined ? undefined : loadAt(text, Date.parse(target.metadata.creationTimestamp ?? ''), now);
    const ready = readyOf(target);
    const readings =
      load === undefined ? [] : metrics.map((metric) => read(metric, load, ready)).filter((each) => !!each);
    if (replicas === 0 || readings.length === 0) {
      const [reason, message] =
        replicas === 0
          ? ['ScalingDisabled', 'scaling is disabled since the replica count of the target is zero']
          : ['FailedGetResourceMetric', 'no metrics: nobody says what load there is, or no pod is ready'];
      await report(autoscaler, { currentReplicas: replicas, desiredReplicas: replicas }, reason, message);
      return again;
    }
    const ratio = Math.max(...readings.map((reading) => reading.ratio));
    const { desired, limited } = desiredReplicas(autoscaler, { replicas, ready: ready.count, ratio }, history, now);
    let lastScaleTime = autoscaler.status?.lastScaleTime;
    if (desired !== replicas) {
      await kube.patch(
        kind,
        { name: target.metadata.name, namespace },
        { type: 'merge', body: { spec: { replicas: desired } } },
      );
      history.noteScale(now, desired - replicas);
      const why = desired < replicas ? 'All metrics below target' : aboveTarget(readings);
      events.say(
        Kinds.HorizontalPodAutoscaler,
        autoscaler,
        'SuccessfulRescale',
        `New size: ${desired}; reason: ${why}`,
      );
      lastScaleTime = timestamp(now);
    }
    const currentMetrics = readings.map(({ current }) => current);
    await report(
      autoscaler,
      {
        currentReplicas: replicas,
        desiredReplicas: desired,
        currentMetrics,
        ...(lastScaleTime && { lastScaleTime }),
      },
      undefined,
      limited,
    );
    return again;
  }

  /** What the ready pods of a target are and ask for, from the sums of its owners. */
  function readyOf(target: Target): Ready {
    const uid = target.metadata.uid ?? '';
    const sets = options.replicaSets.store.byIndex(BY_CONTROLLER, uid);
    return [uid, ...sets.map(({ metadata }) => metadata.uid ?? '')].map(sumOf).reduce(addReady);
  }

  function sumOf(owner: string): Ready {
    const known = sums.get(owner);
    if (known) return known;
    const sum = pods.store
      .byIndex(BY_CONTROLLER, owner)
      .filter((pod) => isActive(pod) && isReady(pod))
      .map((pod): Ready => {
        const requests = podRequests(pod);
        const amount = (name: string): number => quantityOf(requests, name).milliValue();
        return { count: 1, cpu: amount('cpu'), memory: amount('memory') / 1000 };
      })
      .reduce(addReady, NOBODY);
    if (sum.count > 0) sums.set(owner, sum);
    return sum;
  }

  async function report(
    autoscaler: HorizontalPodAutoscaler,
    numbers: Pick<Status, 'currentReplicas' | 'desiredReplicas' | 'currentMetrics' | 'lastScaleTime'>,
    failure: string | undefined,
    detail: string | undefined,
  ): Promise<void> {
    const now = timestamp(clock.now());
    const condition = (
      type: string,
      on: boolean,
      reason: string,
      message: string,
    ): NonNullable<Status['conditions']>[number] => {
      const status = on ? 'True' : 'False';
      const before = autoscaler.status?.conditions?.find((each) => each.type === type);
      const lastTransitionTime = (before?.status === status && before.lastTransitionTime) || now;
      return { type, status, reason, message, lastTransitionTime };
    };
    const conditions =
      failure === undefined
        ? [
            condition('AbleToScale', true, 'ReadyForNewScale', 'recommended size matches current size'),
            condition(
              'ScalingActive',
              true,
              'ValidMetricFound',
              'the HPA was able to successfully calculate a replica count',
            ),
            detail === undefined
              ? condition(
                  'ScalingLimited',
                  false,
                  'DesiredWithinRange',
                  'the desired count is within the acceptable range',
                )
              : condition('ScalingLimited', true, detail, 'the desired replica count is beyond what is allowed'),
          ]
        : [
            condition(
              'AbleToScale',
              failure !== 'FailedGetScale',
              failure === 'FailedGetScale' ? failure : 'SucceededGetScale',
              detail ?? '',
            ),
            condition('ScalingActive', false, failure, detail ?? ''),
          ];
    const status: Status = {
      ...(autoscaler.status?.lastScaleTime && { lastScaleTime: autoscaler.status.lastScaleTime }),
      ...numbers,
      currentMetrics: numbers.currentMetrics ?? [],
      conditions,
    };
    await patchStatus(kube, Kinds.HorizontalPodAutoscaler, autoscaler, { ...autoscaler, status }, { lock: false });
  }

  return reconciler({
    name: 'local.autoscaler',
    concurrency: 4,
    clock,
    random,
    log,
    watches: [
      // Its own status changes are no reason to look: the period is.
      watch(autoscalers, (event) =>
        event.type === 'updated' && event.old.spec === event.object.spec ? [] : [keyOf(event.object)],
      ),
    ],
    reconcile,
  });
}

/** Which metric asks for more, in the words of the controller. */
function aboveTarget(readings: readonly Reading[]): string {
  const { resource } = readings.reduce((most, each) => (each.ratio > most.ratio ? each : most)).current;
  const how = resource?.current.averageUtilization === undefined ? '' : ' utilization (percentage of request)';
  return `${resource?.name ?? ''} resource${how} above target`;
}
