/** Builds the objects of a scenario's workloads from short descriptions. */
import {
  Kinds,
  type CronJob,
  type Deployment,
  type HorizontalPodAutoscaler,
  type Job,
  type PodDisruptionBudget,
  type StatefulSet,
} from '../../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../api/object.ts';
import { ignoreNotFound } from '../../kube/errors.ts';
import type { Draft, Kube } from '../../kube/kube.ts';

const NAMESPACE = 'default';
const ZONE = 'topology.kubernetes.io/zone';

/** An object to create, with its kind. */
export interface Manifest {
  readonly kind: ResourceKind<KubeObject>;
  readonly object: Draft<KubeObject>;
}

export function manifest<T extends KubeObject>(kind: ResourceKind<T>, object: Draft<T>): Manifest {
  return { kind, object };
}

/** Creates the objects that do not exist yet. */
export async function installManifests(kube: Kube, manifests: readonly Manifest[]): Promise<void> {
  for (const { kind, object } of manifests) {
    const { name, namespace } = object.metadata;
    // Creating a Service again would fail because its address is taken, not because it exists.
    if (name && (await ignoreNotFound(kube.get(kind, { name, ...(namespace && { namespace }) })))) continue;
    await kube.create(kind, object);
  }
}

interface Size {
  readonly cpu: string;
  readonly memory: string;
}

export interface ServiceShape extends Size {
  readonly replicas: number;
  /** CPU cores over time, see loadModel.ts; with it the service has an autoscaler. */
  readonly load?: string;
  readonly most?: number;
  readonly spreadOverZones?: boolean;
  /** `maxUnavailable` of the disruption budget; absent: no budget. */
  readonly maxUnavailable?: number | string;
  readonly spec?: Partial<NonNullable<NonNullable<NonNullable<Deployment['spec']>['template']>['spec']>>;
}

const container = (name: string, { cpu, memory }: Size): { name: string; image: string; resources: object } => ({
  name,
  image: `example.com/${name}:1`,
  resources: { requests: { cpu, memory }, limits: { memory } },
});

const zonal = (labels: Record<string, string>): NonNullable<ServiceShape['spec']> => ({
  containers: [],
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: labels } },
  ],
});

/** Returns a Deployment, with the autoscaler and the disruption budget that the shape asks for. */
export function service(name: string, shape: ServiceShape): Manifest[] {
  const labels = { app: name };
  const metadata = { name, namespace: NAMESPACE };
  const deployment: Draft<Deployment> = {
    metadata: { ...metadata, labels, ...(shape.load && { annotations: { 'local.nodewright.dev/load': shape.load } }) },
    spec: {
      replicas: shape.replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          ...(shape.spreadOverZones && zonal(labels)),
          ...shape.spec,
          containers: [container(name, shape)],
        },
      },
    },
  };
  const autoscaler: Draft<HorizontalPodAutoscaler> = {
    metadata,
    spec: {
      minReplicas: shape.replicas,
      maxReplicas: shape.most ?? shape.replicas * 10,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
      ],
    },
  };
  const { maxUnavailable } = shape;
  return [
    manifest(Kinds.Deployment, deployment),
    ...(shape.load ? [manifest(Kinds.HorizontalPodAutoscaler, autoscaler)] : []),
    ...(maxUnavailable === undefined ? [] : [budget(metadata, labels, { maxUnavailable })]),
  ];
}

export function budget(
  metadata: { readonly name: string; readonly namespace: string },
  matchLabels: Record<string, string>,
  allowed: { readonly maxUnavailable: number | string } | { readonly minAvailable: number },
): Manifest {
  return manifest<PodDisruptionBudget>(Kinds.PodDisruptionBudget, {
    metadata,
    spec: { ...allowed, selector: { matchLabels } },
  });
}

export interface DatabaseShape extends Size {
  readonly replicas: number;
  readonly storage: string;
}

/** Returns a StatefulSet whose pods have a disk each and spread over zones, and its disruption budget. */
export function database(name: string, { replicas, storage, ...size }: DatabaseShape): Manifest[] {
  const labels = { app: name };
  const resources = { requests: { storage } };
  const object: Draft<StatefulSet> = {
    metadata: { name, namespace: NAMESPACE, labels },
    spec: {
      replicas,
      serviceName: name,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { ...zonal(labels), containers: [container(name, size)] } },
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources } }],
    },
  };
  return [manifest(Kinds.StatefulSet, object), budget({ name, namespace: NAMESPACE }, labels, { maxUnavailable: 1 })];
}

export interface BatchShape extends Size {
  readonly completions: number;
  readonly parallelism: number;
  readonly runSeconds: number;
}

function jobSpec(name: string, shape: BatchShape): NonNullable<Job['spec']> {
  return {
    completions: shape.completions,
    parallelism: shape.parallelism,
    ttlSecondsAfterFinished: 600,
    // An evicted pod does not count as failed.
    podFailurePolicy: {
      rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }],
    },
    template: {
      metadata: { annotations: { 'local.nodewright.dev/run-seconds': String(shape.runSeconds) } },
      spec: { restartPolicy: 'Never', containers: [container(name, shape)] },
    },
  };
}

export function batch(name: string, shape: BatchShape): Manifest {
  return manifest<Job>(Kinds.Job, { metadata: { name, namespace: NAMESPACE }, spec: jobSpec(name, shape) });
}

export function nightly(name: string, schedule: string, shape: BatchShape): Manifest {
  return manifest<CronJob>(Kinds.CronJob, {
    metadata: { name, namespace: NAMESPACE },
    spec: { schedule, concurrencyPolicy: 'Forbid', jobTemplate: { spec: jobSpec(name, shape) } },
  });
}
