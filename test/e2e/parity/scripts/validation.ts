/** Refusals of built-in kinds, with their wording. */
import { given, patch, post, script, type Json, type Script } from '../script.ts';
import {
  APPS,
  budget,
  BUDGETS,
  claim,
  configMap,
  CORE,
  cronJob,
  daemonSet,
  deployment,
  DEPLOYMENTS,
  job,
  JOBS,
  MAPS,
  node,
  pod,
  PODS,
  podSpec,
  service,
  statefulSet,
  volume,
} from './objects.ts';

const refuses = (name: string, path: string, body: unknown): Script => script(`invalid: ${name}`, post(path, body));
const changes = (name: string, path: string, body: Json, change: Json): Script =>
  script(
    `invalid change: ${name}`,
    given(post(path, body)),
    patch('merge', `${path}/${String((body['metadata'] as Json)['name'])}`, change),
  );
const container = (extra: Json): Json => ({ containers: [{ name: 'main', image: 'a:1', ...extra }] });
const podWith = (name: string, spec: Json): Script => refuses(`pod ${name}`, PODS, pod('one', {}, spec));
const CRON = '/apis/batch/v1/namespaces/NS/cronjobs';
const SCALERS = '/apis/autoscaling/v2/namespaces/NS/horizontalpodautoscalers';
const SERVICES = `${CORE}/services`;

export const validationScripts: readonly Script[] = [
  refuses('name', MAPS, configMap('Not_Valid')),
  refuses('long name', MAPS, configMap('a'.repeat(254))),
  refuses('service name', SERVICES, service('1-starts-with-a-digit')),
  refuses('namespace name', '/api/v1/namespaces', { metadata: { name: 'has.dots' } }),
  refuses('label value', MAPS, configMap('one', {}, { labels: { a: 'not valid' } })),
  refuses('label key', MAPS, configMap('one', {}, { labels: { 'not valid': 'a' } })),
  refuses('long label', MAPS, configMap('one', {}, { labels: { a: 'a'.repeat(64) } })),
  refuses('annotation key', MAPS, configMap('one', {}, { annotations: { 'not valid': 'a' } })),
  refuses('finalizer', MAPS, configMap('one', {}, { finalizers: ['not valid'] })),
  refuses(
    'owner without uid',
    MAPS,
    configMap('one', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'x' }] }),
  ),
  refuses(
    'two controllers',
    MAPS,
    configMap(
      'one',
      {},
      {
        ownerReferences: ['1', '2'].map((digit) => ({
          apiVersion: 'v1',
          kind: 'Pod',
          name: `x${digit}`,
          controller: true,
          uid: `00000000-0000-0000-0000-00000000000${digit}`,
        })),
      },
    ),
  ),
  refuses('config map key', MAPS, configMap('one', { 'not/valid': 'a' })),
  refuses('secret that is not base64', `${CORE}/secrets`, { metadata: { name: 'one' }, data: { a: '***' } }),
  podWith('without containers', { containers: [] }),
  refuses('pod without spec', PODS, { metadata: { name: 'one' } }),
  podWith('container without name', { containers: [{ image: 'a' }] }),
  podWith('container without image', { containers: [{ name: 'a' }] }),
  podWith('container name', { containers: [{ name: 'Not_Valid', image: 'a' }] }),
  podWith('two containers of one name', {
    containers: [
      { name: 'a', image: 'a' },
      { name: 'a', image: 'b' },
    ],
  }),
  podWith('restart policy', { restartPolicy: 'Sometimes' }),
  podWith('DNS policy', { dnsPolicy: 'Nope' }),
  podWith('pull policy', container({ imagePullPolicy: 'Rarely' })),
  podWith('port', container({ ports: [{ containerPort: 0 }] })),
  podWith('port too high', container({ ports: [{ containerPort: 70_000 }] })),
  podWith('port protocol', container({ ports: [{ containerPort: 1, protocol: 'HTTP' }] })),
  podWith('request above limit', container({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } })),
  podWith('negative request', container({ resources: { requests: { cpu: '-1' } } })),
  podWith('resource name', container({ resources: { requests: { 'not valid': '1' } } })),
  podWith('unknown resource', container({ resources: { requests: { gpus: '1' } } })),
  podWith('extended resource without limit', container({ resources: { requests: { 'nvidia.com/gpu': '1' } } })),
  podWith('fraction of an extended resource', container({ resources: { limits: { 'nvidia.com/gpu': '500m' } } })),
  podWith('environment name', container({ env: [{ name: '', value: 'a' }] })),
  podWith(
    'environment twice',
    container({ env: [{ name: 'A', value: 'a', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }] }),
  ),
  podWith('mount without volume', container({ volumeMounts: [{ name: 'nothing', mountPath: '/x' }] })),
  podWith('volume twice', { volumes: [{ name: 'a' }, { name: 'a' }] }),
  podWith('volume name', { volumes: [{ name: 'Not_Valid' }] }),
  podWith('probe without handler', container({ livenessProbe: {} })),
  podWith(
    'probe with a negative delay',
    container({ livenessProbe: { initialDelaySeconds: -1, tcpSocket: { port: 1 } } }),
  ),
  podWith('grace', { terminationGracePeriodSeconds: -5 }),
  podWith('deadline', { activeDeadlineSeconds: 0 }),
  podWith('toleration operator', { tolerations: [{ key: 'a', operator: 'Like' }] }),
  podWith('toleration with a value that exists', { tolerations: [{ key: 'a', operator: 'Exists', value: 'b' }] }),
  podWith('toleration without key', { tolerations: [{ operator: 'Equal', value: 'b' }] }),
  podWith('toleration seconds', {
    tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 5 }],
  }),
  podWith('toleration effect', { tolerations: [{ key: 'a', operator: 'Exists', effect: 'Always' }] }),
  podWith('node selector', { nodeSelector: { 'not valid': 'a' } }),
  podWith('affinity operator', {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Like', values: ['b'] }] }],
        },
      },
    },
  }),
  podWith('affinity without values', {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In' }] }],
        },
      },
    },
  }),
  podWith('affinity without terms', {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
  }),
  podWith('affinity weight', {
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 0, preference: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
        ],
      },
    },
  }),
  podWith('anti-affinity without topology', {
    affinity: {
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: {}, topologyKey: '' }] },
    },
  }),
  podWith('spread', { topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'Perhaps' }] }),
  podWith('spread twice', {
    topologySpreadConstraints: [1, 2].map((maxSkew) => ({
      maxSkew,
      topologyKey: 'zone',
      whenUnsatisfiable: 'DoNotSchedule',
    })),
  }),
  podWith('node name', { nodeName: 'Not_Valid' }),
  podWith('gate', { schedulingGates: [{ name: 'not valid' }] }),
  podWith('gate with node', { nodeName: 'n', schedulingGates: [{ name: 'example.com/a' }] }),
  podWith('host port', { hostNetwork: true, ...container({ ports: [{ containerPort: 80, hostPort: 81 }] }) }),
  podWith('host name', { hostname: 'Not_Valid' }),
  podWith('pull secret', { imagePullSecrets: [{ name: '' }] }),
  refuses('deployment without selector', DEPLOYMENTS, deployment('one', { selector: undefined })),
  refuses('deployment with an empty selector', DEPLOYMENTS, deployment('one', { selector: {} })),
  refuses(
    'deployment that does not select its pods',
    DEPLOYMENTS,
    deployment('one', { selector: { matchLabels: { app: 'two' } } }),
  ),
  refuses('deployment without template', DEPLOYMENTS, deployment('one', { template: {} })),
  refuses('deployment with negative replicas', DEPLOYMENTS, deployment('one', { replicas: -1 })),
  refuses('deployment strategy', DEPLOYMENTS, deployment('one', { strategy: { type: 'Slowly' } })),
  refuses(
    'deployment that cannot move',
    DEPLOYMENTS,
    deployment('one', { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
  ),
  refuses(
    'deployment that recreates and rolls',
    DEPLOYMENTS,
    deployment('one', { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } }),
  ),
  refuses('deployment percentage', DEPLOYMENTS, deployment('one', { strategy: { rollingUpdate: { maxSurge: 'x%' } } })),
  refuses(
    'deployment restart policy',
    DEPLOYMENTS,
    deployment('one', {
      template: { metadata: { labels: { app: 'one' } }, spec: podSpec({ restartPolicy: 'Never' }) },
    }),
  ),
  refuses('deployment deadline', DEPLOYMENTS, deployment('one', { progressDeadlineSeconds: 1, minReadySeconds: 5 })),
  refuses(
    'deployment selector operator',
    DEPLOYMENTS,
    deployment('one', { selector: { matchExpressions: [{ key: 'app', operator: 'Like', values: ['one'] }] } }),
  ),
  refuses('stateful set policy', `${APPS}/statefulsets`, statefulSet('one', { podManagementPolicy: 'Chaos' })),
  refuses('daemon set strategy', `${APPS}/daemonsets`, daemonSet('one', { updateStrategy: { type: 'Slowly' } })),
  refuses('job restart policy', JOBS, job('one', { template: { spec: podSpec({ restartPolicy: 'Always' }) } })),
  refuses('job with negative parallelism', JOBS, job('one', { parallelism: -1 })),
  refuses('job with a selector of its own', JOBS, job('one', { selector: { matchLabels: { a: 'b' } } })),
  refuses('job backoff', JOBS, job('one', { backoffLimit: -1 })),
  refuses('indexed job without completions', JOBS, job('one', { completionMode: 'Indexed' })),
  refuses('cron schedule', CRON, cronJob('one', { schedule: 'often' })),
  refuses('cron without schedule', CRON, cronJob('one', { schedule: '' })),
  refuses('cron policy', CRON, cronJob('one', { concurrencyPolicy: 'Maybe' })),
  refuses('cron time zone', CRON, cronJob('one', { timeZone: 'Mars/Olympus' })),
  refuses('cron name', CRON, cronJob('a'.repeat(53))),
  refuses('service without ports', SERVICES, { metadata: { name: 'one' }, spec: {} }),
  refuses('service type', SERVICES, service('one', { type: 'Magic' })),
  refuses('service port', SERVICES, service('one', { ports: [{ port: 0 }] })),
  refuses('service ports without names', SERVICES, service('one', { ports: [{ port: 1 }, { port: 2 }] })),
  refuses(
    'service port twice',
    SERVICES,
    service('one', {
      ports: [
        { name: 'a', port: 1 },
        { name: 'a', port: 2 },
      ],
    }),
  ),
  refuses('service address', SERVICES, service('one', { clusterIP: 'nonsense' })),
  refuses('node port out of range', SERVICES, service('one', { type: 'NodePort', ports: [{ port: 1, nodePort: 80 }] })),
  refuses('budget with both', BUDGETS, budget('one', { maxUnavailable: 1 })),
  refuses('budget percentage', BUDGETS, budget('one', { minAvailable: '120%' })),
  refuses('negative budget', BUDGETS, budget('one', { minAvailable: -1 })),
  refuses('budget policy', BUDGETS, budget('one', { unhealthyPodEvictionPolicy: 'Never' })),
  refuses('autoscaler bounds', SCALERS, {
    metadata: { name: 'one' },
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'x' }, minReplicas: 5, maxReplicas: 2 },
  }),
  refuses('autoscaler without target', SCALERS, { metadata: { name: 'one' }, spec: { maxReplicas: 2 } }),
  refuses('autoscaler that never grows', SCALERS, {
    metadata: { name: 'one' },
    spec: { scaleTargetRef: { kind: 'Deployment', name: 'x' }, maxReplicas: 0 },
  }),
  refuses('claim without modes', `${CORE}/persistentvolumeclaims`, claim('one', { accessModes: [] })),
  refuses('claim without size', `${CORE}/persistentvolumeclaims`, claim('one', { resources: {} })),
  refuses('claim mode', `${CORE}/persistentvolumeclaims`, claim('one', { accessModes: ['Write'] })),
  refuses('volume without source', '/api/v1/persistentvolumes', volume('NS-one', { csi: undefined })),
  refuses('volume without capacity', '/api/v1/persistentvolumes', volume('NS-one', { capacity: {} })),
  refuses('volume policy', '/api/v1/persistentvolumes', volume('NS-one', { persistentVolumeReclaimPolicy: 'Burn' })),
  refuses('storage class without provisioner', '/apis/storage.k8s.io/v1/storageclasses', {
    metadata: { name: 'NS-one' },
  }),
  refuses('storage class binding mode', '/apis/storage.k8s.io/v1/storageclasses', {
    metadata: { name: 'NS-one' },
    provisioner: 'a',
    volumeBindingMode: 'Later',
  }),
  refuses('node taint effect', '/api/v1/nodes', node('NS-one', { spec: { taints: [{ key: 'a', effect: 'Maybe' }] } })),
  refuses(
    'node taint twice',
    '/api/v1/nodes',
    node('NS-one', {
      spec: {
        taints: [
          { key: 'a', effect: 'NoSchedule' },
          { key: 'a', effect: 'NoSchedule' },
        ],
      },
    }),
  ),
  refuses(
    'node taint key',
    '/api/v1/nodes',
    node('NS-one', { spec: { taints: [{ key: 'not valid', effect: 'NoSchedule' }] } }),
  ),
  refuses('role without verbs', '/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles', {
    metadata: { name: 'one' },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: [] }],
  }),
  refuses('binding to an unknown kind', '/apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings', {
    metadata: { name: 'one' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Thing', name: 'x' },
  }),
  refuses('lease duration', '/apis/coordination.k8s.io/v1/namespaces/NS/leases', {
    metadata: { name: 'one' },
    spec: { leaseDurationSeconds: 0 },
  }),
  refuses('quota', `${CORE}/resourcequotas`, { metadata: { name: 'one' }, spec: { hard: { pods: '-1' } } }),
  refuses('event without object', `${CORE}/events`, {
    metadata: { name: 'one' },
    involvedObject: { namespace: 'other' },
  }),
  changes('image is allowed', PODS, pod('one'), { spec: { containers: [{ name: 'main', image: 'busybox:2' }] } }),
  changes('pod node selector', PODS, pod('one'), { spec: { nodeSelector: { a: 'b' } } }),
  changes('pod node name', PODS, pod('one'), { spec: { nodeName: 'n' } }),
  changes('pod restart policy', PODS, pod('one'), { spec: { restartPolicy: 'Never' } }),
  changes('pod tolerations are added to', PODS, pod('one', {}, { tolerations: [{ key: 'a', operator: 'Exists' }] }), {
    spec: { tolerations: [{ key: 'b', operator: 'Exists' }] },
  }),
  changes('deployment selector', DEPLOYMENTS, deployment('one'), {
    spec: { selector: { matchLabels: { app: 'two' } }, template: { metadata: { labels: { app: 'two' } } } },
  }),
  changes('stateful set service', `${APPS}/statefulsets`, statefulSet('one'), { spec: { serviceName: 'two' } }),
  changes('job completions', JOBS, job('one'), { spec: { completions: 5 } }),
  changes('job template', JOBS, job('one'), {
    spec: { template: { spec: { containers: [{ name: 'main', image: 'c:3' }] } } },
  }),
  changes('service address', SERVICES, service('one'), { spec: { clusterIP: '10.0.9.9' } }),
  changes('immutable config map', MAPS, { ...configMap('one'), immutable: true }, { data: { key: 'other' } }),
  changes('immutable for ever', MAPS, { ...configMap('one'), immutable: true }, { immutable: false }),
  changes('secret type', `${CORE}/secrets`, { metadata: { name: 'one' }, type: 'a' }, { type: 'b' }),
  changes('claim class', `${CORE}/persistentvolumeclaims`, claim('one', { storageClassName: 'a' }), {
    spec: { storageClassName: 'b' },
  }),
  changes('volume source', '/api/v1/persistentvolumes', volume('NS-one'), { spec: { csi: { volumeHandle: 'other' } } }),
  changes(
    'storage class parameters',
    '/apis/storage.k8s.io/v1/storageclasses',
    { metadata: { name: 'NS-one' }, provisioner: 'a' },
    { parameters: { a: 'b' } },
  ),
  changes('node provider', '/api/v1/nodes', node('NS-one', { spec: { providerID: 'azure:///a' } }), {
    spec: { providerID: 'azure:///b' },
  }),
  changes(
    'role of a binding',
    '/apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings',
    { metadata: { name: 'one' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'x' } },
    { roleRef: { name: 'y' } },
  ),
];
