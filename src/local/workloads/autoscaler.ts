/**
 * Horizontal pod autoscalers. In: autoscalers, their targets and the load that `local.nodewright.dev/load` on either
 * describes. Out: replicas, decided every 15 s by Kubernetes' formula, tolerance, policies and stabilisation.
 */
import {
  Kinds,
  type Deployment,
  type HorizontalPodAutoscaler,
  type Pod,
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
import { BY_CONTROLLER } from './ownedObjects.ts';
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

interface Reading {
  readonly ratio: number;
  readonly current: NonNullable<Status['currentMetrics']>[number];
}

export function autoscalerController(options: AutoscalerOptions): Controller {
  const { kube, clock, random, log, pods, autoscalers } = options;
  const histories = new Map<string, ReplicaHistory>();
  const targets: Readonly<Record<string, [Informer<Target>, ResourceKind<KubeObject>]>> = {
    Deployment: [options.deployments as Informer<Target>, Kinds.Deployment],
    StatefulSet: [options.statefulSets as unknown as Informer<Target>, Kinds.StatefulSet],
    ReplicaSet: [options.replicaSets as unknown as Informer<Target>, Kinds.ReplicaSet],
  };

  /** What one metric says: the share of the target that each ready pod uses now. */
  function read(metric: Metric, load: number, ready: readonly Pod[]): Reading | undefined {
    const { name, target } = metric.resource ?? {};
    if (metric.type !== 'Resource' || !name || !target || ready.length === 0) return undefined;
    // The load is given in cores; memory follows it, a GiB for a core.
    const demand = name === 'memory' ? load * 2 ** 30 : load * 1000;
    const scale = name === 'memory' ? 0.001 : 1;
    const requested = ready.reduce((sum, pod) => sum + quantityOf(podRequests(pod), name).milliValue() * scale, 0);
    const average = demand / ready.length;
    const averageValue = name === 'memory' ? String(Math.round(average)) : `${Math.round(average)}m`;
    if (target.averageUtilization !== undefined) {
      if (requested === 0) return undefined;
      const averageUtilization = Math.round((demand / requested) * 100);
      const resource = { name, current: { averageValue, averageUtilization } };
      return { ratio: averageUtilization / target.averageUtilization, current: { type: 'Resource', resource } };
    }
    const wanted = (Quantity.tryParse(target.averageValue ?? '0')?.milliValue() ?? 0) * scale;
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
    const ready = podsOf(target).filter((pod) => isActive(pod) && isReady(pod));
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
    const { desired, limited } = desiredReplicas(autoscaler, { replicas, ready: ready.length, ratio }, history, now);
    let lastScaleTime = autoscaler.status?.lastScaleTime;
    if (desired !== replicas) {
      await kube.patch(
        kind,
        { name: target.metadata.name, namespace },
        { type: 'merge', body: { spec: { replicas: desired } } },
      );
      history.noteScale(now, desired - replicas);
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

  /** By owner rather than by label: it costs what the target has, not what its namespace has. */
  function podsOf(target: Target): readonly Pod[] {
    const uid = target.metadata.uid ?? '';
    const sets = options.replicaSets.store.byIndex(BY_CONTROLLER, uid);
    const owners = [uid, ...sets.map(({ metadata }) => metadata.uid ?? '')];
    return owners.flatMap((owner) => pods.store.byIndex(BY_CONTROLLER, owner));
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
