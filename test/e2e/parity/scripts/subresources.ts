/** Status, scale, eviction, binding, tokens; what admission adds and refuses. */
import { get, given, patch, post, put, script, type Json, type Script } from '../script.ts';
import {
  BUDGETS,
  budget,
  CORE,
  configMap,
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
} from './objects.ts';

const eviction = (name: string, deleteOptions?: Json): Json => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name, namespace: 'NS' },
  ...(deleteOptions === undefined ? {} : { deleteOptions }),
});
const binding = (name: string, target: string): Json => ({
  apiVersion: 'v1',
  kind: 'Binding',
  metadata: { name },
  target: { apiVersion: 'v1', kind: 'Node', name: target },
});
const running = (name: string, ready = 'True'): readonly ReturnType<typeof given>[] => [
  given(post(PODS, pod(name, { labels: { app: 'one' } }, { nodeName: 'n' }))),
  given(
    patch('merge', `${PODS}/${name}/status`, {
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready }] },
    }),
  ),
];
const budgetStatus = (status: Json): Json => ({
  status: {
    observedGeneration: 1,
    currentHealthy: 1,
    desiredHealthy: 1,
    expectedPods: 1,
    disruptionsAllowed: 0,
    ...status,
  },
});
const limits = (item: Json): Json => ({ metadata: { name: 'limits' }, spec: { limits: [item] } });
const sized = (resources: Json): Json => ({ containers: [{ name: 'main', image: 'a:1', resources }] });
const quota = (hard: Json, spec: Json = {}): Json => ({ metadata: { name: 'quota' }, spec: { hard, ...spec } });
const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
const QUOTAS = `${CORE}/resourcequotas`;
const quotaKnown = { until: (body: Json) => ((body['status'] as Json)['hard'] ?? undefined) !== undefined };

export const subresourceScripts: readonly Script[] = [
  script(
    'status of a deployment',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('merge', `${DEPLOYMENTS}/one/status`, {
      spec: { replicas: 9 },
      status: { replicas: 2, observedGeneration: 1 },
    }),
    get(`${DEPLOYMENTS}/one/status`),
  ),
  script(
    'status is not written through the object',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('merge', `${DEPLOYMENTS}/one`, { status: { replicas: 2 } }),
  ),
  script(
    'status of a pod',
    given(post(PODS, pod('one'))),
    patch('strategic', `${PODS}/one/status`, {
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    }),
    patch('strategic', `${PODS}/one/status`, {
      status: {
        conditions: [
          { type: 'Ready', status: 'False' },
          { type: 'Initialized', status: 'True' },
        ],
      },
    }),
  ),
  script(
    'status of a node',
    given(post('/api/v1/nodes', node('NS-one'))),
    patch('strategic', '/api/v1/nodes/NS-one/status', {
      status: {
        capacity: { cpu: '4' },
        conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2024-01-01T00:00:00Z' }],
        nodeInfo: { kubeletVersion: 'v1.36.0' },
      },
    }),
  ),
  script(
    'status by replacing',
    given(post(DEPLOYMENTS, deployment('one'))),
    put(`${DEPLOYMENTS}/one/status`, {
      ...deployment('one', { replicas: 9 }, { labels: { a: 'b' } }),
      status: { replicas: 4 },
    }),
  ),
  script('status where there is none', given(post(MAPS, configMap('one'))), get(`${MAPS}/one/status`)),
  script('status of a namespace', get('/api/v1/namespaces/NS/status')),
  script(
    'scale',
    given(post(DEPLOYMENTS, deployment('one'))),
    get(`${DEPLOYMENTS}/one/scale`),
    put(`${DEPLOYMENTS}/one/scale`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'one', namespace: 'NS' },
      spec: { replicas: 4 },
    }),
    patch('merge', `${DEPLOYMENTS}/one/scale`, { spec: { replicas: 5 } }),
    get(`${DEPLOYMENTS}/one`),
  ),
  script(
    'scale below zero',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('merge', `${DEPLOYMENTS}/one/scale`, { spec: { replicas: -1 } }),
  ),
  script(
    'scale at an old version',
    given(post(DEPLOYMENTS, deployment('one'))),
    put(`${DEPLOYMENTS}/one/scale`, {
      metadata: { name: 'one', namespace: 'NS', resourceVersion: '1' },
      spec: { replicas: 4 },
    }),
  ),
  script('scale what is not there', get(`${DEPLOYMENTS}/one/scale`)),
  script('scale what has no scale', given(post(MAPS, configMap('one'))), get(`${MAPS}/one/scale`)),
  script(
    'evict without a budget',
    ...running('one'),
    post(`${PODS}/one/eviction`, eviction('one')),
    get(`${PODS}/one`),
  ),
  script(
    'evict with options',
    ...running('one'),
    post(`${PODS}/one/eviction`, eviction('one', { gracePeriodSeconds: 0 })),
    get(`${PODS}/one`),
  ),
  script('evict what is not there', post(`${PODS}/one/eviction`, eviction('one'))),
  script(
    'evict for practice',
    ...running('one'),
    post(`${PODS}/one/eviction?dryRun=All`, eviction('one')),
    get(`${PODS}/one`),
  ),
  script('evict with another name', ...running('one'), post(`${PODS}/one/eviction`, eviction('two'))),
  script(
    'evict against a budget that is not computed yet',
    ...running('one'),
    given(post(BUDGETS, budget('one'))),
    post(`${PODS}/one/eviction`, eviction('one')),
  ),
  script(
    'evict against a budget',
    ...running('one'),
    given(post(BUDGETS, budget('one'))),
    given(patch('merge', `${BUDGETS}/one/status`, budgetStatus({}))),
    post(`${PODS}/one/eviction`, eviction('one')),
  ),
  script(
    'evict within a budget',
    ...running('one'),
    given(post(BUDGETS, budget('one'))),
    given(patch('merge', `${BUDGETS}/one/status`, budgetStatus({ disruptionsAllowed: 1, currentHealthy: 2 }))),
    post(`${PODS}/one/eviction`, eviction('one')),
    get(`${BUDGETS}/one`),
    get(`${PODS}/one`),
  ),
  script(
    'evict an unready pod',
    ...running('one', 'False'),
    given(post(BUDGETS, budget('one'))),
    given(patch('merge', `${BUDGETS}/one/status`, budgetStatus({}))),
    post(`${PODS}/one/eviction`, eviction('one')),
  ),
  script(
    'evict an unready pod when always allowed',
    ...running('one', 'False'),
    given(post(BUDGETS, budget('one', { unhealthyPodEvictionPolicy: 'AlwaysAllow' }))),
    given(patch('merge', `${BUDGETS}/one/status`, budgetStatus({ currentHealthy: 0 }))),
    post(`${PODS}/one/eviction`, eviction('one')),
  ),
  script(
    'evict under two budgets',
    ...running('one'),
    given(post(BUDGETS, budget('one'))),
    given(post(BUDGETS, { ...budget('one'), metadata: { name: 'two' } })),
    post(`${PODS}/one/eviction`, eviction('one')),
  ),
  script(
    'evict a pending pod',
    given(post(PODS, pod('one', { labels: { app: 'one' } }))),
    given(post(BUDGETS, budget('one'))),
    post(`${PODS}/one/eviction`, eviction('one')),
  ),
  script('bind', given(post(PODS, pod('one'))), post(`${PODS}/one/binding`, binding('one', 'n')), get(`${PODS}/one`)),
  script(
    'bind twice',
    given(post(PODS, pod('one'))),
    given(post(`${PODS}/one/binding`, binding('one', 'n'))),
    post(`${PODS}/one/binding`, binding('one', 'm')),
  ),
  script('bind what is not there', post(`${PODS}/one/binding`, binding('one', 'n'))),
  script('bind to nothing', given(post(PODS, pod('one'))), post(`${PODS}/one/binding`, binding('one', ''))),
  script(
    'bind to something else',
    given(post(PODS, pod('one'))),
    post(`${PODS}/one/binding`, { metadata: { name: 'one' }, target: { kind: 'Machine', name: 'n' } }),
  ),
  script(
    'bind a gated pod',
    given(post(PODS, pod('one', {}, { schedulingGates: [{ name: 'example.com/wait' }] }))),
    post(`${PODS}/one/binding`, binding('one', 'n')),
  ),
  script(
    'bind for practice',
    given(post(PODS, pod('one'))),
    post(`${PODS}/one/binding?dryRun=All`, binding('one', 'n')),
  ),
  script(
    'bind through bindings',
    given(post(PODS, pod('one'))),
    post(`${CORE}/bindings`, binding('one', 'n')),
    get(`${PODS}/one`),
  ),
  script('put on a binding', given(post(PODS, pod('one'))), put(`${PODS}/one/binding`, binding('one', 'n'))),
  script('unknown subresource', given(post(PODS, pod('one'))), get(`${PODS}/one/nothing`)),
  script(
    'token of an account',
    post(`${CORE}/serviceaccounts/default/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: ['parity'], expirationSeconds: 600 },
    }),
  ),
  script(
    'token of an account, too short',
    post(`${CORE}/serviceaccounts/default/token`, { spec: { expirationSeconds: 10 } }),
  ),
  script('token of nobody', post(`${CORE}/serviceaccounts/nobody/token`, { spec: {} })),

  script(
    'a priority class gives its value',
    given(post(CLASSES, { metadata: { name: 'NS-high' }, value: 1000, preemptionPolicy: 'Never' })),
    post(PODS, pod('one', {}, { priorityClassName: 'NS-high' })),
  ),
  script('an unknown priority class', post(PODS, pod('one', {}, { priorityClassName: 'nothing' }))),
  script('a system priority class', post(PODS, pod('one', {}, { priorityClassName: 'system-cluster-critical' }))),
  script('a priority that contradicts its class', post(PODS, pod('one', {}, { priority: 5 }))),
  script(
    'a preemption policy that contradicts its class',
    given(post(CLASSES, { metadata: { name: 'NS-high' }, value: 1000 })),
    post(PODS, pod('one', {}, { priorityClassName: 'NS-high', preemptionPolicy: 'Never' })),
  ),
  script('a system name for a priority class', post(CLASSES, { metadata: { name: 'system-NS' }, value: 10 })),
  script(
    'a value too high for a priority class',
    post(CLASSES, { metadata: { name: 'NS-high' }, value: 1_000_000_001 }),
  ),
  script(
    'the value of a priority class stays',
    given(post(CLASSES, { metadata: { name: 'NS-high' }, value: 10 })),
    patch('merge', `${CLASSES}/NS-high`, { value: 11 }),
  ),
  script(
    'the system priority classes',
    get(`${CLASSES}/system-node-critical`),
    get(`${CLASSES}/system-cluster-critical`),
  ),
  script(
    'tolerations that pods bring themselves',
    post(
      PODS,
      pod(
        'one',
        {},
        {
          tolerations: [
            { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 10 },
          ],
        },
      ),
    ),
  ),
  script('an account that is not there', post(PODS, pod('one', {}, { serviceAccountName: 'nobody' }))),
  script('no token where none is wanted', post(PODS, pod('one', {}, { automountServiceAccountToken: false }))),

  script(
    'limits: defaults',
    given(
      post(
        `${CORE}/limitranges`,
        limits({ type: 'Container', default: { cpu: '500m', memory: '512Mi' }, defaultRequest: { cpu: '100m' } }),
      ),
    ),
    post(PODS, pod('one')),
    post(PODS, pod('two', {}, sized({ requests: { cpu: '200m' } }))),
  ),
  script(
    'limits: too much',
    given(post(`${CORE}/limitranges`, limits({ type: 'Container', max: { cpu: '1' } }))),
    post(PODS, pod('one', {}, sized({ limits: { cpu: '2' } }))),
    post(PODS, pod('two')),
  ),
  script(
    'limits: too little',
    given(post(`${CORE}/limitranges`, limits({ type: 'Container', min: { memory: '128Mi' } }))),
    post(PODS, pod('one', {}, sized({ requests: { memory: '64Mi' } }))),
  ),
  script(
    'limits: ratio',
    given(post(`${CORE}/limitranges`, limits({ type: 'Container', maxLimitRequestRatio: { cpu: '2' } }))),
    post(PODS, pod('one', {}, sized({ requests: { cpu: '100m' }, limits: { cpu: '500m' } }))),
  ),
  script(
    'limits: of the whole pod',
    given(post(`${CORE}/limitranges`, limits({ type: 'Pod', max: { cpu: '1' } }))),
    post(
      PODS,
      pod(
        'one',
        {},
        {
          containers: ['a', 'b'].map((name) => ({
            name,
            image: 'a:1',
            resources: { requests: { cpu: '600m' }, limits: { cpu: '600m' } },
          })),
        },
      ),
    ),
  ),
  script(
    'limits: of claims',
    given(post(`${CORE}/limitranges`, limits({ type: 'PersistentVolumeClaim', max: { storage: '1Gi' } }))),
    post(`${CORE}/persistentvolumeclaims`, {
      metadata: { name: 'one' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
    }),
  ),
  script(
    'limits: not for deployments',
    given(post(`${CORE}/limitranges`, limits({ type: 'Container', default: { cpu: '500m' } }))),
    post(DEPLOYMENTS, deployment('one')),
  ),
  script(
    'limits: contradictions',
    post(`${CORE}/limitranges`, limits({ type: 'Container', max: { cpu: '1' }, min: { cpu: '2' } })),
  ),

  script(
    'quota: counts pods',
    given(post(QUOTAS, quota({ pods: '1' }))),
    given(get(`${QUOTAS}/quota`, quotaKnown)),
    post(PODS, pod('one')),
    post(PODS, pod('two')),
    get(`${QUOTAS}/quota`),
  ),
  script(
    'quota: counts requests',
    given(post(QUOTAS, quota({ 'requests.cpu': '1', 'limits.memory': '1Gi' }))),
    given(get(`${QUOTAS}/quota`, quotaKnown)),
    post(PODS, pod('one', {}, sized({ requests: { cpu: '600m', memory: '1Mi' }, limits: { memory: '1Mi' } }))),
    post(PODS, pod('two', {}, sized({ requests: { cpu: '600m', memory: '1Mi' }, limits: { memory: '1Mi' } }))),
    post(PODS, pod('three')),
    get(`${QUOTAS}/quota`),
  ),
  script(
    'quota: counts objects',
    given(post(QUOTAS, quota({ 'count/deployments.apps': '0', services: '0' }))),
    given(get(`${QUOTAS}/quota`, quotaKnown)),
    post(DEPLOYMENTS, deployment('one')),
    post(`${CORE}/services`, service('one')),
  ),
  script(
    'quota: scopes',
    given(post(QUOTAS, quota({ pods: '0' }, { scopes: ['BestEffort'] }))),
    given(get(`${QUOTAS}/quota`, quotaKnown)),
    post(PODS, pod('one')),
    post(PODS, pod('two', {}, sized({ requests: { cpu: '1' } }))),
  ),
  script(
    'a job labels its pods',
    post(
      JOBS,
      job('one', { template: { metadata: { labels: { a: 'b' } }, spec: podSpec({ restartPolicy: 'Never' }) } }),
    ),
  ),
];
