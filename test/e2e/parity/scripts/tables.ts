/** What `kubectl get` shows of the other kinds. One script each: the table holds the wide columns too. */
import { bare, get, given, post, script, TABLE, type Json, type Script } from '../script.ts';
import {
  APPS,
  budget,
  BUDGETS,
  claim,
  configMap,
  CORE,
  cronJob,
  daemonSet,
  definition,
  DEFINITIONS,
  deployment,
  job,
  JOBS,
  MAPS,
  node,
  pod,
  PODS,
  replicaSet,
  service,
  statefulSet,
  volume,
  widget,
  WIDGETS,
} from './objects.ts';
import { table } from './table.ts';

const group = (name: string, version = 'v1'): string => `/apis/${name}/${version}/namespaces/NS`;
const cluster = (name: string): string => `/apis/${name}/v1`;
/** Printed as `20d` by both servers; an age in minutes may turn between two answers. */
const ago = new Date(Date.now() - 20.5 * 86_400_000).toISOString().replace(/\.\d+Z/, 'Z');

export const tableScripts: readonly Script[] = [
  script(
    'table of pods: terminating',
    given(post(PODS, pod('one', { finalizers: ['example.com/keep'] }, { nodeName: 'n' }))),
    given({ method: 'DELETE', path: `${PODS}/one` }),
    get(`${PODS}/one`, { accept: TABLE }),
  ),
  table(
    'nodes',
    '/api/v1/nodes',
    node('NS-one', {
      metadata: { name: 'NS-one', labels: { 'node-role.kubernetes.io/agent': '', 'kubernetes.io/role': 'worker' } },
      spec: { unschedulable: true },
    }),
    {
      conditions: [{ type: 'Ready', status: 'True' }],
      addresses: [
        { type: 'InternalIP', address: '10.1.0.4' },
        { type: 'Hostname', address: 'NS-one' },
      ],
      nodeInfo: {
        kubeletVersion: 'v1.36.1',
        osImage: 'Ubuntu 22.04',
        kernelVersion: '5.15',
        containerRuntimeVersion: 'containerd://2.0',
        architecture: 'amd64',
        bootID: '',
        kubeProxyVersion: '',
        machineID: '',
        operatingSystem: 'linux',
        systemUUID: '',
      },
    },
  ),
  script(
    'table of nodes: not ready',
    given(post('/api/v1/nodes', node('NS-two'))),
    get('/api/v1/nodes/NS-two', { accept: TABLE }),
  ),
  script('table of namespaces', get('/api/v1/namespaces/NS', { accept: TABLE })),
  table('deployments', `${APPS}/deployments`, deployment('one', { replicas: 3 }), {
    replicas: 3,
    readyReplicas: 1,
    updatedReplicas: 2,
    availableReplicas: 1,
  }),
  table('replica sets', `${APPS}/replicasets`, replicaSet('one', { replicas: 3 }), { replicas: 3, readyReplicas: 1 }),
  table('stateful sets', `${APPS}/statefulsets`, statefulSet('one', { replicas: 3 }), {
    replicas: 3,
    readyReplicas: 1,
  }),
  table('daemon sets', `${APPS}/daemonsets`, daemonSet('one'), {
    currentNumberScheduled: 2,
    desiredNumberScheduled: 3,
    numberMisscheduled: 0,
    numberReady: 1,
    updatedNumberScheduled: 2,
    numberAvailable: 1,
  }),
  table('controller revisions', `${APPS}/controllerrevisions`, {
    metadata: { name: 'one' },
    revision: 3,
    data: {},
  }),
  table('jobs', JOBS, job('one', { completions: 3, parallelism: 2 })),
  table('jobs: complete', JOBS, job('one'), {
    startTime: '2024-01-01T00:00:00Z',
    completionTime: '2024-01-01T00:01:30Z',
    succeeded: 1,
    uncountedTerminatedPods: {},
    conditions: [
      { type: 'SuccessCriteriaMet', status: 'True', lastTransitionTime: '2024-01-01T00:01:30Z' },
      { type: 'Complete', status: 'True', lastTransitionTime: '2024-01-01T00:01:30Z' },
    ],
  }),
  table('jobs: work queue', JOBS, job('one', { parallelism: 2 })),
  table(
    'cron jobs',
    '/apis/batch/v1/namespaces/NS/cronjobs',
    cronJob('one', { timeZone: 'Europe/Berlin', suspend: true }),
  ),
  table(
    'services',
    `${CORE}/services`,
    service('one', {
      type: 'LoadBalancer',
      ports: [
        { name: 'a', port: 80, nodePort: 31_234 },
        { name: 'b', port: 443, nodePort: 31_235 },
      ],
    }),
    { loadBalancer: { ingress: [{ ip: '20.0.0.1' }] } },
  ),
  table('services: headless', `${CORE}/services`, service('one', { clusterIP: 'None' })),
  table('services: external name', `${CORE}/services`, {
    metadata: { name: 'one' },
    spec: { type: 'ExternalName', externalName: 'example.com' },
  }),
  table('endpoint slices', `${group('discovery.k8s.io')}/endpointslices`, {
    metadata: { name: 'one' },
    addressType: 'IPv4',
    ports: [
      { name: 'a', port: 80 },
      { name: 'b', port: 81 },
    ],
    endpoints: [{ addresses: ['10.1.2.3'] }, { addresses: ['10.1.2.4'] }],
  }),
  table('endpoints', `${CORE}/endpoints`, {
    metadata: { name: 'one' },
    subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80 }] }],
  }),
  table('events', `${CORE}/events`, {
    metadata: { name: 'one' },
    involvedObject: { kind: 'Pod', name: 'x', namespace: 'NS', fieldPath: 'spec.containers{main}' },
    reason: 'Because',
    message: 'it happened',
    type: 'Warning',
    source: { component: 'parity', host: 'h' },
    count: 2,
    firstTimestamp: ago,
    lastTimestamp: ago,
  }),
  table('new events', `${group('events.k8s.io')}/events`, {
    metadata: { name: 'one' },
    regarding: { kind: 'Pod', name: 'x', namespace: 'NS' },
    reason: 'Because',
    note: 'it happened',
    type: 'Normal',
    action: 'Look',
    reportingController: 'parity.example.com/one',
    reportingInstance: 'one',
    eventTime: ago.replace('Z', '.000000Z'),
  }),
  table('leases', `${group('coordination.k8s.io')}/leases`, {
    metadata: { name: 'one' },
    spec: { holderIdentity: 'me' },
  }),
  table('budgets', BUDGETS, budget('one'), {
    observedGeneration: 1,
    currentHealthy: 2,
    desiredHealthy: 1,
    expectedPods: 2,
    disruptionsAllowed: 1,
  }),
  table('budgets: unavailable', BUDGETS, budget('one', { minAvailable: undefined, maxUnavailable: '30%' })),
  table(
    'autoscalers',
    `${group('autoscaling', 'v2')}/horizontalpodautoscalers`,
    {
      metadata: { name: 'one' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' },
        minReplicas: 2,
        maxReplicas: 5,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
          { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '100Mi' } } },
        ],
      },
    },
    {
      currentReplicas: 3,
      desiredReplicas: 3,
      currentMetrics: [
        { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 20, averageValue: '200m' } } },
      ],
    },
  ),
  table('autoscalers: nothing known', `${group('autoscaling', 'v2')}/horizontalpodautoscalers`, {
    metadata: { name: 'one' },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' }, maxReplicas: 5 },
  }),
  table(
    'volumes',
    '/api/v1/persistentvolumes',
    volume('NS-one', { storageClassName: 'managed', claimRef: { namespace: 'NS', name: 'c' } }),
    { phase: 'Bound' },
  ),
  table('claims', `${CORE}/persistentvolumeclaims`, claim('one', { storageClassName: 'managed', volumeName: 'v' }), {
    phase: 'Bound',
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '8Gi' },
  }),
  table('storage classes', `${cluster('storage.k8s.io')}/storageclasses`, {
    metadata: { name: 'NS-one' },
    provisioner: 'disk.csi.azure.com',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: true,
  }),
  table('CSI nodes', `${cluster('storage.k8s.io')}/csinodes`, {
    metadata: { name: 'NS-one' },
    spec: { drivers: [{ name: 'a', nodeID: 'x', topologyKeys: [] }] },
  }),
  table('CSI drivers', `${cluster('storage.k8s.io')}/csidrivers`, {
    metadata: { name: 'NS.example.com' },
    spec: { attachRequired: true, podInfoOnMount: false },
  }),
  table('volume attachments', `${cluster('storage.k8s.io')}/volumeattachments`, {
    metadata: { name: 'NS-one' },
    spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } },
  }),
  table('priority classes', `${cluster('scheduling.k8s.io')}/priorityclasses`, {
    metadata: { name: 'NS-one' },
    value: 7,
  }),
  table('config maps', MAPS, configMap('one', { a: 'b', c: 'd' })),
  table('secrets', `${CORE}/secrets`, { metadata: { name: 'one' }, type: 'example.com/x', stringData: { a: 'b' } }),
  script('table of service accounts', get(`${CORE}/serviceaccounts/default`, { accept: TABLE })),
  table('limit ranges', `${CORE}/limitranges`, {
    metadata: { name: 'one' },
    spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] },
  }),
  script(
    'table of quotas',
    given(
      post(`${CORE}/resourcequotas`, {
        metadata: { name: 'one' },
        spec: { hard: { pods: 3, 'limits.cpu': '1' } },
      }),
    ),
    given(get(`${CORE}/resourcequotas/one`, { until: (body) => (body['status'] as Json)['used'] !== undefined })),
    get(`${CORE}/resourcequotas/one`, { accept: TABLE }),
  ),
  table('replication controllers', `${CORE}/replicationcontrollers`, {
    metadata: { name: 'one' },
    spec: {
      replicas: 2,
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'd' }] } },
    },
  }),
  table('pod templates', `${CORE}/podtemplates`, {
    metadata: { name: 'one' },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'd' }] } },
  }),
  table('ingresses', `${group('networking.k8s.io')}/ingresses`, {
    metadata: { name: 'one' },
    spec: {
      ingressClassName: 'nginx',
      tls: [{ hosts: ['a'] }],
      rules: [
        {
          host: 'a.example.com',
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'x', port: { number: 80 } } } }],
          },
        },
      ],
    },
  }),
  table('ingress classes', `${cluster('networking.k8s.io')}/ingressclasses`, {
    metadata: { name: 'NS-one' },
    spec: { controller: 'example.com/x' },
  }),
  table('network policies', `${group('networking.k8s.io')}/networkpolicies`, {
    metadata: { name: 'one' },
    spec: { podSelector: { matchLabels: { a: 'b' } } },
  }),
  table('runtime classes', `${cluster('node.k8s.io')}/runtimeclasses`, {
    metadata: { name: 'NS-one' },
    handler: 'kata',
  }),
  table('roles', `${group('rbac.authorization.k8s.io')}/roles`, { metadata: { name: 'one' }, rules: [] }),
  table('role bindings', `${group('rbac.authorization.k8s.io')}/rolebindings`, {
    metadata: { name: 'one' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'one' },
    subjects: [
      { kind: 'User', name: 'u' },
      { kind: 'ServiceAccount', name: 'default', namespace: 'NS' },
    ],
  }),
  table('cluster roles', `${cluster('rbac.authorization.k8s.io')}/clusterroles`, {
    metadata: { name: 'NS-one' },
    rules: [],
  }),
  table('webhooks', `${cluster('admissionregistration.k8s.io')}/validatingwebhookconfigurations`, {
    metadata: { name: 'NS-one' },
    webhooks: [],
  }),
  table('device classes', `${cluster('resource.k8s.io')}/deviceclasses`, { metadata: { name: 'NS-one' }, spec: {} }),
  table('resource claims', `${group('resource.k8s.io')}/resourceclaims`, { metadata: { name: 'one' }, spec: {} }),
  script(
    'table of definitions',
    given(post(DEFINITIONS, definition({ type: 'object' }))),
    // Established a moment later; before that its status has no manager yet.
    given(get(WIDGETS, { untilCode: 200 })),
    get(`${DEFINITIONS}/widgets.NS.example.com`, { accept: TABLE }),
  ),
  script(
    'table of custom resources',
    given(
      post(
        DEFINITIONS,
        definition(
          {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer' },
                  when: { type: 'string', format: 'date-time' },
                  tags: { type: 'array', items: { type: 'string' } },
                },
              },
            },
          },
          {},
          {
            additionalPrinterColumns: [
              { name: 'Size', type: 'integer', jsonPath: '.spec.size', description: 'How big' },
              { name: 'When', type: 'date', jsonPath: '.spec.when' },
              { name: 'Tags', type: 'string', jsonPath: '.spec.tags', priority: 1 },
              { name: 'Nothing', type: 'string', jsonPath: '.spec.nothing' },
            ],
          },
        ),
      ),
    ),
    given(get(WIDGETS, { untilCode: 200 })),
    given(post(WIDGETS, widget('one', { spec: { size: 3, when: ago, tags: ['a', 'b'] } }), { untilCode: 201 })),
    get(WIDGETS, { accept: TABLE }),
  ),
  script(
    'table of custom resources without columns',
    given(post(DEFINITIONS, definition({ type: 'object' }))),
    given(get(WIDGETS, { untilCode: 200 })),
    given(post(WIDGETS, widget('one'), { untilCode: 201 })),
    get(WIDGETS, { accept: TABLE }),
  ),
  script(
    'table without objects',
    given(post(MAPS, configMap('one'))),
    get(`${MAPS}/one?includeObject=None`, { accept: TABLE }),
  ),
  script(
    'table with whole objects',
    given(post(MAPS, configMap('one'))),
    get(`${MAPS}/one?includeObject=Object`, { accept: TABLE }),
  ),
  script(
    'table of a page',
    given(post(MAPS, configMap('one', {}, { labels: { a: 'b' } }))),
    given(post(MAPS, configMap('two', {}, { labels: { a: 'b' } }))),
    get(`${MAPS}?limit=1&labelSelector=a`, { accept: TABLE }),
  ),
  script('table of nothing', get(PODS, { accept: TABLE })),
  bare('table of what is not there', get('/api/v1/namespaces/default/pods/none', { accept: TABLE })),
  bare(
    'table in an old version',
    get('/api/v1/namespaces/default/pods', { accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io' }),
  ),
];
