/** Small valid objects for scripts to start from. */
import type { Json } from '../script.ts';

export const CORE = '/api/v1/namespaces/NS';
export const PODS = `${CORE}/pods`;
export const MAPS = `${CORE}/configmaps`;
export const APPS = '/apis/apps/v1/namespaces/NS';
export const DEPLOYMENTS = `${APPS}/deployments`;
export const JOBS = '/apis/batch/v1/namespaces/NS/jobs';
export const BUDGETS = '/apis/policy/v1/namespaces/NS/poddisruptionbudgets';

export const podSpec = (extra: Json = {}): Json => ({
  containers: [{ name: 'main', image: 'busybox:1.36' }],
  ...extra,
});

export const pod = (name: string, extra: Json = {}, spec: Json = {}): Json => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...extra },
  spec: podSpec(spec),
});

export const configMap = (name: string, data: Json = { key: 'value' }, metadata: Json = {}): Json => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});

const template = (app: string, spec: Json = {}): Json => ({ metadata: { labels: { app } }, spec: podSpec(spec) });

const workload =
  (apiVersion: string, kind: string) =>
  (name: string, spec: Json = {}, metadata: Json = {}): Json => ({
    apiVersion,
    kind,
    metadata: { name, ...metadata },
    spec: { selector: { matchLabels: { app: name } }, template: template(name), ...spec },
  });

export const deployment = workload('apps/v1', 'Deployment');
export const replicaSet = workload('apps/v1', 'ReplicaSet');
export const daemonSet = workload('apps/v1', 'DaemonSet');
export const statefulSet = (name: string, spec: Json = {}): Json =>
  workload('apps/v1', 'StatefulSet')(name, { serviceName: name, ...spec });

export const job = (name: string, spec: Json = {}, metadata: Json = {}): Json => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, ...metadata },
  spec: { template: { spec: podSpec({ restartPolicy: 'Never' }) }, ...spec },
});

export const cronJob = (name: string, spec: Json = {}): Json => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name },
  spec: {
    schedule: '*/5 * * * *',
    jobTemplate: { spec: { template: { spec: podSpec({ restartPolicy: 'OnFailure' }) } } },
    ...spec,
  },
});

export const budget = (name: string, spec: Json = {}): Json => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec: { minAvailable: 1, selector: { matchLabels: { app: name } }, ...spec },
});

export const service = (name: string, spec: Json = {}): Json => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
});

export const node = (name: string, extra: Json = {}): Json => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/hostname': name } },
  ...extra,
});

export const claim = (name: string, spec: Json = {}): Json => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '8Gi' } }, ...spec },
});

export const volume = (name: string, spec: Json = {}): Json => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name },
  spec: {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '8Gi' },
    csi: { driver: 'disk.csi.azure.com', volumeHandle: name },
    ...spec,
  },
});

/** A definition with everything that CRDs are used for. `NS` keeps scripts apart. */
export const definition = (schema: Json, extra: Json = {}, version: Json = {}): Json => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.NS.example.com' },
  spec: {
    group: 'NS.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['wd'] },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }],
    ...extra,
  },
});

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const WIDGETS = '/apis/NS.example.com/v1/namespaces/NS/widgets';

export const widget = (name: string, rest: Json = {}, metadata: Json = {}): Json => ({
  apiVersion: 'NS.example.com/v1',
  kind: 'Widget',
  metadata: { name, ...metadata },
  ...rest,
});
