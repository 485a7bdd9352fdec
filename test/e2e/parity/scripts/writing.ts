/** Create, replace and all patches. */
import { get, metadataOf, given, patch, post, put, script, type Json, type Script } from '../script.ts';
import {
  configMap,
  CORE,
  deployment,
  DEPLOYMENTS,
  MAPS,
  pod,
  PODS,
  service,
  JOBS,
  job,
  cronJob,
  APPS,
  daemonSet,
  statefulSet,
  replicaSet,
  node,
  claim,
  volume,
  budget,
  BUDGETS,
} from './objects.ts';

const full: Json = {
  containers: [
    {
      name: 'main',
      image: 'registry.example.com:5000/app',
      command: ['run'],
      env: [
        { name: 'A', value: 'b' },
        { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      ],
      ports: [{ containerPort: 8080 }, { name: 'udp', containerPort: 53, protocol: 'UDP' }],
      resources: { limits: { cpu: '0.5', memory: '1024Mi' }, requests: { cpu: '250m' } },
      livenessProbe: { httpGet: { port: 8080 } },
      readinessProbe: { exec: { command: ['true'] } },
      startupProbe: { grpc: { port: 9000 } },
      lifecycle: { preStop: { httpGet: { port: 8080, path: '/stop' } } },
      volumeMounts: [{ name: 'config', mountPath: '/etc/config' }],
      securityContext: { capabilities: { drop: ['ALL'] } },
    },
  ],
  initContainers: [{ name: 'init', image: 'busybox', restartPolicy: 'Always' }],
  volumes: [
    { name: 'config', configMap: { name: 'config' } },
    { name: 'secret', secret: { secretName: 'secret' } },
    { name: 'scratch' },
    { name: 'host', hostPath: { path: '/var' } },
    { name: 'down', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    {
      name: 'disk',
      ephemeral: {
        volumeClaimTemplate: {
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      },
    },
  ],
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { a: 'b' } } },
  ],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['1'] }] }],
      },
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: 'host', labelSelector: {} } },
      ],
    },
  },
  tolerations: [{ key: 'spot', operator: 'Exists' }],
};

export const writingScripts: readonly Script[] = [
  script('create', post(MAPS, configMap('one'))),
  script('create with a generated name', post(MAPS, { metadata: { generateName: 'one-' }, data: {} })),
  script('create with both names', post(MAPS, { metadata: { name: 'two', generateName: 'one-' } })),
  script('create twice', given(post(MAPS, configMap('one'))), post(MAPS, configMap('one'))),
  script('create without a name', post(MAPS, { metadata: {} })),
  script('create with a version', post(MAPS, configMap('one', {}, { resourceVersion: '5' }))),
  script('create in the wrong namespace', post(MAPS, configMap('one', {}, { namespace: 'other' }))),
  script('create in a namespace that is not there', post('/api/v1/namespaces/nowhere/configmaps', configMap('one'))),
  script('create of the wrong kind', post(MAPS, pod('one'))),
  script('create of the wrong version', post(MAPS, { ...configMap('one'), apiVersion: 'v2' })),
  script('create without kind', post(MAPS, { metadata: { name: 'one' } })),
  script('create with a body that is no JSON', post(MAPS, '{"metadata":')),
  script('create with a list as body', post(MAPS, [1])),
  script('create with an unknown media type', post(MAPS, configMap('one'), { type: 'text/plain' })),
  script('create from yaml', post(MAPS, 'metadata: {name: one}\ndata: {a: b}\n', { type: 'application/yaml' })),
  script('create for practice', post(`${MAPS}?dryRun=All`, configMap('one')), get(`${MAPS}/one`)),
  script('create with a bad dry-run', post(`${MAPS}?dryRun=Some`, configMap('one'))),
  script('create with a manager', post(`${MAPS}?fieldManager=somebody`, configMap('one'))),
  script('create with an unknown field', post(MAPS, { ...configMap('one'), dota: {} })),
  script(
    'create with an unknown field, strictly',
    post(`${MAPS}?fieldValidation=Strict`, { ...configMap('one'), dota: {} }),
  ),
  script(
    'create with an unknown field, ignored',
    post(`${MAPS}?fieldValidation=Ignore`, { ...configMap('one'), dota: {} }),
  ),
  script(
    'create with a field given twice',
    post(`${MAPS}?fieldValidation=Strict`, '{"metadata":{"name":"one"},"data":{"a":"1","a":"2"}}'),
  ),
  script('create with a bad field validation', post(`${MAPS}?fieldValidation=Maybe`, configMap('one'))),
  script(
    'create with an unknown deep field',
    post(
      `${PODS}?fieldValidation=Strict`,
      pod('one', {}, { contaners: [], containers: [{ name: 'a', image: 'b', imag: 'c' }] }),
    ),
  ),
  script('create with a wrong type', post(MAPS, { metadata: { name: 'one' }, data: { a: 1 } })),
  script('create with a wrong list', post(PODS, { metadata: { name: 'one' }, spec: { containers: {} } })),
  script(
    'create with a bad quantity',
    post(PODS, pod('one', {}, { containers: [{ name: 'a', image: 'b', resources: { requests: { cpu: 'lots' } } }] })),
  ),
  script(
    'create with finalizers and owners',
    post(
      MAPS,
      configMap(
        'one',
        {},
        {
          finalizers: ['example.com/keep'],
          ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'x', uid: '00000000-0000-0000-0000-000000000001' }],
        },
      ),
    ),
  ),
  script('create a pod', post(PODS, pod('one'))),
  script('create a pod with everything', post(PODS, pod('one', { labels: { a: 'b' }, annotations: { c: 'd' } }, full))),
  script(
    'create a guaranteed pod',
    post(
      PODS,
      pod('one', {}, { containers: [{ name: 'a', image: 'b:1', resources: { limits: { cpu: 1, memory: '1Gi' } } }] }),
    ),
  ),
  script('create a gated pod', post(PODS, pod('one', {}, { schedulingGates: [{ name: 'example.com/wait' }] }))),
  script(
    'create a pod on the host network',
    post(
      PODS,
      pod('one', {}, { hostNetwork: true, containers: [{ name: 'a', image: 'b', ports: [{ containerPort: 80 }] }] }),
    ),
  ),
  script('create a deployment', post(DEPLOYMENTS, deployment('one'))),
  script('create a replica set', post(`${APPS}/replicasets`, replicaSet('one'))),
  script(
    'create a stateful set',
    post(
      `${APPS}/statefulsets`,
      statefulSet('one', {
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      }),
    ),
  ),
  script('create a daemon set', post(`${APPS}/daemonsets`, daemonSet('one'))),
  script('create a job', post(JOBS, job('one'))),
  script('create a cron job', post('/apis/batch/v1/namespaces/NS/cronjobs', cronJob('one'))),
  script('create a service', post(`${CORE}/services`, service('one'))),
  script('create a headless service', post(`${CORE}/services`, service('one', { clusterIP: 'None' }))),
  script('create a load balancer', post(`${CORE}/services`, service('one', { type: 'LoadBalancer' }))),
  script('create a node port', post(`${CORE}/services`, service('one', { type: 'NodePort' }))),
  script(
    'create an external name',
    post(`${CORE}/services`, {
      metadata: { name: 'one' },
      spec: { type: 'ExternalName', externalName: 'example.com' },
    }),
  ),
  script(
    'create a secret',
    post(`${CORE}/secrets`, { metadata: { name: 'one' }, stringData: { a: 'b' }, data: { c: 'ZA==' } }),
  ),
  script('create a claim', post(`${CORE}/persistentvolumeclaims`, claim('one'))),
  script('create a volume', post('/api/v1/persistentvolumes', volume('NS-one'))),
  script(
    'create a node',
    post(
      '/api/v1/nodes',
      node('NS-one', {
        spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] },
        status: { capacity: { cpu: '4', memory: '16Gi' } },
      }),
    ),
  ),
  script('create a budget', post(BUDGETS, budget('one'))),
  script('create a namespace', post('/api/v1/namespaces', { metadata: { name: 'NS-child' } })),
  script(
    'create a lease',
    post('/apis/coordination.k8s.io/v1/namespaces/NS/leases', {
      metadata: { name: 'one' },
      spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2024-01-01T00:00:00.000000Z' },
    }),
  ),
  script(
    'create a storage class',
    post('/apis/storage.k8s.io/v1/storageclasses', { metadata: { name: 'NS-one' }, provisioner: 'disk.csi.azure.com' }),
  ),
  script(
    'create a CSI node',
    post('/apis/storage.k8s.io/v1/csinodes', {
      metadata: { name: 'NS-one' },
      spec: {
        drivers: [{ name: 'disk.csi.azure.com', nodeID: 'NS-one', topologyKeys: ['zone'], allocatable: { count: 8 } }],
      },
    }),
  ),
  script(
    'create a CSI driver',
    post('/apis/storage.k8s.io/v1/csidrivers', { metadata: { name: 'NS.csi.example.com' }, spec: {} }),
  ),
  script(
    'create an event',
    post(`${CORE}/events`, {
      metadata: { name: 'one' },
      involvedObject: { kind: 'Pod', name: 'x', namespace: 'NS' },
      reason: 'Because',
      message: 'it happened',
      type: 'Normal',
      source: { component: 'parity' },
      count: 2,
    }),
  ),
  script(
    'create a new event',
    post('/apis/events.k8s.io/v1/namespaces/NS/events', {
      metadata: { name: 'one' },
      regarding: { kind: 'Pod', name: 'x', namespace: 'NS' },
      reason: 'Because',
      note: 'it happened',
      type: 'Normal',
      action: 'Look',
      reportingController: 'parity.example.com/one',
      reportingInstance: 'one',
      eventTime: '2024-01-01T00:00:00.000000Z',
    }),
  ),
  script(
    'create an autoscaler',
    post('/apis/autoscaling/v2/namespaces/NS/horizontalpodautoscalers', {
      metadata: { name: 'one' },
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' }, maxReplicas: 5 },
    }),
  ),
  script(
    'read an autoscaler in the old version',
    given(
      post('/apis/autoscaling/v2/namespaces/NS/horizontalpodautoscalers', {
        metadata: { name: 'one' },
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x' },
          minReplicas: 2,
          maxReplicas: 5,
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
          ],
        },
      }),
    ),
    get('/apis/autoscaling/v1/namespaces/NS/horizontalpodautoscalers/one'),
  ),
  script(
    'create a role and its binding',
    post('/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles', {
      metadata: { name: 'one' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    }),
    post('/apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings', {
      metadata: { name: 'one' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'one' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 'default', namespace: 'NS' },
      ],
    }),
  ),
  script(
    'create an ingress',
    post('/apis/networking.k8s.io/v1/namespaces/NS/ingresses', {
      metadata: { name: 'one' },
      spec: {
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
  ),
  script(
    'create a network policy',
    post('/apis/networking.k8s.io/v1/namespaces/NS/networkpolicies', {
      metadata: { name: 'one' },
      spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] },
    }),
  ),
  script(
    'create an endpoint slice',
    post('/apis/discovery.k8s.io/v1/namespaces/NS/endpointslices', {
      metadata: { name: 'one' },
      addressType: 'IPv4',
      ports: [{ port: 80 }],
      endpoints: [{ addresses: ['10.1.2.3'], conditions: {} }],
    }),
  ),
  script(
    'create a priority class',
    post('/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'NS-one' }, value: 7 }),
  ),
  script(
    'create a limit range',
    post(`${CORE}/limitranges`, {
      metadata: { name: 'one' },
      spec: { limits: [{ type: 'Container', max: { cpu: '2' }, default: { cpu: '1' } }] },
    }),
  ),
  script(
    'create a quota',
    post(`${CORE}/resourcequotas`, { metadata: { name: 'one' }, spec: { hard: { pods: 3, 'requests.cpu': '1' } } }),
  ),

  script('replace', given(post(MAPS, configMap('one'))), put(`${MAPS}/one`, configMap('one', { other: 'value' }))),
  script('replace at its version', given(post(MAPS, configMap('one'))), (answers) =>
    put(
      `${MAPS}/one`,
      configMap('one', { other: 'value' }, { resourceVersion: metadataOf(answers[0])['resourceVersion'] }),
    ),
  ),
  script(
    'replace at an old version',
    given(post(MAPS, configMap('one'))),
    given(put(`${MAPS}/one`, configMap('one', { b: 'c' }))),
    (answers) =>
      put(
        `${MAPS}/one`,
        configMap('one', { other: 'value' }, { resourceVersion: metadataOf(answers[0])['resourceVersion'] }),
      ),
  ),
  script(
    'replace with another identity',
    given(post(MAPS, configMap('one'))),
    put(`${MAPS}/one`, configMap('one', {}, { uid: '00000000-0000-0000-0000-000000000001' })),
  ),
  script('replace what is not there', put(`${MAPS}/one`, configMap('one'))),
  script('replace with another name', given(post(MAPS, configMap('one'))), put(`${MAPS}/one`, configMap('two'))),
  script('replace with the same', post(MAPS, configMap('one')), put(`${MAPS}/one`, configMap('one'))),
  script(
    "replace cannot touch what is the server's",
    given(post(MAPS, configMap('one'))),
    put(
      `${MAPS}/one`,
      configMap(
        'one',
        {},
        { creationTimestamp: '2001-01-01T00:00:00Z', generation: 12, deletionTimestamp: '2001-01-01T00:00:00Z' },
      ),
    ),
  ),
  script(
    'replace for practice',
    given(post(MAPS, configMap('one'))),
    put(`${MAPS}/one?dryRun=All`, configMap('one', { a: 'b' })),
    get(`${MAPS}/one`),
  ),
  script(
    'replace a deployment counts generations',
    given(post(DEPLOYMENTS, deployment('one'))),
    put(`${DEPLOYMENTS}/one`, deployment('one', { replicas: 3 })),
    put(`${DEPLOYMENTS}/one`, deployment('one', { replicas: 3 }, { labels: { a: 'b' } })),
  ),
  script(
    'replace a service keeps its address',
    given(post(`${CORE}/services`, service('one'))),
    put(`${CORE}/services/one`, service('one', { ports: [{ port: 81 }] })),
  ),
  script(
    'replace clears managed fields',
    given(post(MAPS, configMap('one'))),
    put(`${MAPS}/one`, configMap('one', {}, { managedFields: [] })),
  ),

  script(
    'json patch',
    given(post(MAPS, configMap('one'))),
    patch('json', `${MAPS}/one`, [
      { op: 'test', path: '/data/key', value: 'value' },
      { op: 'add', path: '/data/more', value: 'x' },
      { op: 'remove', path: '/data/key' },
    ]),
  ),
  script(
    'json patch: test fails',
    given(post(MAPS, configMap('one'))),
    patch('json', `${MAPS}/one`, [{ op: 'test', path: '/data/key', value: 'other' }]),
  ),
  script(
    'json patch: removes nothing',
    given(post(MAPS, configMap('one'))),
    patch('json', `${MAPS}/one`, [{ op: 'remove', path: '/data/none' }]),
  ),
  script(
    'json patch: path without parent',
    given(post(MAPS, configMap('one'))),
    patch('json', `${MAPS}/one`, [{ op: 'add', path: '/a/b/c', value: 1 }]),
  ),
  script(
    'json patch: replace nothing',
    given(post(MAPS, configMap('one'))),
    patch('json', `${MAPS}/one`, [{ op: 'replace', path: '/data/none', value: 'x' }]),
  ),
  script(
    'json patch: move and copy',
    given(post(MAPS, configMap('one'))),
    patch('json', `${MAPS}/one`, [
      { op: 'copy', from: '/data/key', path: '/data/second' },
      { op: 'move', from: '/data/key', path: '/data/third' },
    ]),
  ),
  script('json patch: no list', given(post(MAPS, configMap('one'))), patch('json', `${MAPS}/one`, { data: {} })),
  script(
    'json patch: unknown operation',
    given(post(MAPS, configMap('one'))),
    patch('json', `${MAPS}/one`, [{ op: 'bless', path: '/data' }]),
  ),
  script(
    'json patch of list items',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('json', `${DEPLOYMENTS}/one`, [
      { op: 'add', path: '/spec/template/spec/containers/-', value: { name: 'side', image: 'c:2' } },
      { op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'd:3' },
    ]),
  ),
  script(
    'merge patch',
    given(post(MAPS, configMap('one', { a: '1', b: '2' }))),
    patch('merge', `${MAPS}/one`, { data: { a: null, c: '3' }, metadata: { labels: { x: 'y' } } }),
  ),
  script(
    'merge patch: changes nothing',
    post(MAPS, configMap('one')),
    patch('merge', `${MAPS}/one`, { data: { key: 'value' } }),
  ),
  script(
    'merge patch: at an old version',
    given(post(MAPS, configMap('one'))),
    patch('merge', `${MAPS}/one`, { metadata: { resourceVersion: '1' }, data: { a: 'b' } }),
  ),
  script('merge patch: nonsense', given(post(MAPS, configMap('one'))), patch('merge', `${MAPS}/one`, '{"data"')),
  script(
    'merge patch: wrong type',
    given(post(MAPS, configMap('one'))),
    patch('merge', `${MAPS}/one`, { data: ['a'] }),
  ),
  script(
    'merge patch: replaces lists',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('merge', `${DEPLOYMENTS}/one`, {
      spec: { template: { spec: { containers: [{ name: 'other', image: 'c:2' }] } } },
    }),
  ),
  script(
    'merge patch: renames',
    given(post(MAPS, configMap('one'))),
    patch('merge', `${MAPS}/one`, { metadata: { name: 'two' } }),
  ),
  script('merge patch: what is not there', patch('merge', `${MAPS}/one`, { data: {} })),
  script(
    'strategic patch: merges containers',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('strategic', `${DEPLOYMENTS}/one`, {
      spec: {
        template: {
          spec: {
            containers: [
              { name: 'side', image: 'c:2' },
              { name: 'main', env: [{ name: 'A', value: 'b' }] },
            ],
          },
        },
      },
    }),
  ),
  script(
    'strategic patch: deletes an item',
    given(
      post(
        DEPLOYMENTS,
        deployment('one', {
          template: {
            metadata: { labels: { app: 'one' } },
            spec: {
              containers: [
                { name: 'main', image: 'a:1' },
                { name: 'side', image: 'b:1' },
              ],
            },
          },
        }),
      ),
    ),
    patch('strategic', `${DEPLOYMENTS}/one`, {
      spec: { template: { spec: { containers: [{ name: 'side', $patch: 'delete' }] } } },
    }),
  ),
  script(
    'strategic patch: replaces a list',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('strategic', `${DEPLOYMENTS}/one`, {
      spec: { template: { spec: { containers: [{ $patch: 'replace' }, { name: 'new', image: 'b:1' }] } } },
    }),
  ),
  script(
    'strategic patch: sets the order',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('strategic', `${DEPLOYMENTS}/one`, {
      spec: {
        template: {
          spec: {
            '$setElementOrder/containers': [{ name: 'side' }, { name: 'main' }],
            containers: [{ name: 'side', image: 'b:1' }],
          },
        },
      },
    }),
  ),
  script(
    'strategic patch: retains keys',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('strategic', `${DEPLOYMENTS}/one`, { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }),
  ),
  script(
    'strategic patch: finalizers and deletion from a primitive list',
    given(post(MAPS, configMap('one', {}, { finalizers: ['a.example.com/x', 'b.example.com/y'] }))),
    patch('strategic', `${MAPS}/one`, {
      metadata: { '$deleteFromPrimitiveList/finalizers': ['a.example.com/x'], finalizers: ['c.example.com/z'] },
    }),
    patch('merge', `${MAPS}/one`, { metadata: { finalizers: null } }),
  ),
  script(
    'strategic patch: without the merge key',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('strategic', `${DEPLOYMENTS}/one`, { spec: { template: { spec: { containers: [{ image: 'b:1' }] } } } }),
  ),
  script(
    'strategic patch: taints',
    given(post('/api/v1/nodes', node('NS-one', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }))),
    patch('strategic', '/api/v1/nodes/NS-one', {
      spec: { taints: [{ key: 'b', effect: 'NoSchedule' }], unschedulable: true },
    }),
  ),
  script(
    'strategic patch: unknown field, strictly',
    given(post(MAPS, configMap('one'))),
    patch('strategic', `${MAPS}/one?fieldValidation=Strict`, { dota: { a: 'b' } }),
  ),
  script(
    'strategic patch: unknown field, warned',
    given(post(MAPS, configMap('one'))),
    patch('strategic', `${MAPS}/one`, { dota: { a: 'b' } }),
  ),
  script('patch of an unknown type', given(post(MAPS, configMap('one'))), {
    method: 'PATCH',
    path: `${MAPS}/one`,
    body: {},
    type: 'application/json',
  }),
  script(
    'patch for practice',
    given(post(MAPS, configMap('one'))),
    patch('merge', `${MAPS}/one?dryRun=All`, { data: { a: 'b' } }),
    get(`${MAPS}/one`),
  ),

  script('apply creates', patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one'))),
  script('apply without a manager', patch('apply', `${MAPS}/one`, configMap('one'))),
  script('apply without kind', patch('apply', `${MAPS}/one?fieldManager=me`, { metadata: { name: 'one' } })),
  script('apply with another name', patch('apply', `${MAPS}/one?fieldManager=me`, configMap('two'))),
  script(
    'apply with managed fields',
    patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', {}, { managedFields: [] })),
  ),
  script(
    'apply with force on a merge patch',
    given(post(MAPS, configMap('one'))),
    patch('merge', `${MAPS}/one?force=true`, { data: {} }),
  ),
  script(
    'apply again changes nothing',
    patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one')),
    patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one')),
  ),
  script(
    'apply removes what is left out',
    given(patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', { a: '1', b: '2' }))),
    patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', { b: '2' })),
  ),
  script(
    'apply conflicts',
    given(patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', { a: '1' }))),
    patch('apply', `${MAPS}/one?fieldManager=you`, configMap('one', { a: '2' })),
  ),
  script(
    'apply conflicts in two fields with two managers',
    given(patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', { a: '1' }))),
    given(patch('merge', `${MAPS}/one?fieldManager=them`, { data: { b: '1' } })),
    patch('apply', `${MAPS}/one?fieldManager=you`, configMap('one', { a: '2', b: '2' })),
  ),
  script(
    'apply by force',
    given(patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', { a: '1' }))),
    patch('apply', `${MAPS}/one?fieldManager=you&force=true`, configMap('one', { a: '2' })),
  ),
  script(
    'apply shares a value',
    given(patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', { a: '1' }))),
    patch('apply', `${MAPS}/one?fieldManager=you`, configMap('one', { a: '1' })),
    patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', {})),
  ),
  script(
    'apply a deployment',
    patch('apply', `${DEPLOYMENTS}/one?fieldManager=me`, deployment('one', { replicas: 2 })),
  ),
  script(
    'apply part of a deployment',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('apply', `${DEPLOYMENTS}/one?fieldManager=me`, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      spec: { template: { spec: { containers: [{ name: 'side', image: 'b:1' }] } } },
    }),
  ),
  script(
    'apply then update takes over',
    given(patch('apply', `${DEPLOYMENTS}/one?fieldManager=me`, deployment('one', { replicas: 2 }))),
    patch('merge', `${DEPLOYMENTS}/one?fieldManager=scaler`, { spec: { replicas: 5 } }),
    patch('apply', `${DEPLOYMENTS}/one?fieldManager=me`, deployment('one', { replicas: 2 })),
  ),
  script(
    'apply from yaml',
    patch(
      'apply',
      `${MAPS}/one?fieldManager=me`,
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {a: b}\n',
    ),
  ),
  script(
    'apply with an unknown field',
    patch('apply', `${MAPS}/one?fieldManager=me`, { ...configMap('one'), dota: {} }),
  ),
  script(
    'apply with duplicate keys in a list',
    patch(
      'apply',
      `${PODS}/one?fieldManager=me`,
      pod(
        'one',
        {},
        {
          containers: [
            { name: 'a', image: 'b' },
            { name: 'a', image: 'c' },
          ],
        },
      ),
    ),
  ),
  script(
    'apply for practice',
    patch('apply', `${MAPS}/one?fieldManager=me&dryRun=All`, configMap('one')),
    get(`${MAPS}/one`),
  ),
  script(
    'apply status',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('apply', `${DEPLOYMENTS}/one/status?fieldManager=me`, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      status: { replicas: 3, conditions: [{ type: 'Available', status: 'True' }] },
    }),
  ),
  script(
    'apply at an old version',
    given(patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one'))),
    patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', { a: 'b' }, { resourceVersion: '1' })),
  ),
];
