/** What becomes of what is created. */
import { get, given, post, script, type Json, type Script } from '../script.ts';
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

export const creatingScripts: readonly Script[] = [
  script('create', post(MAPS, configMap('one'))),
  script('create with a generated name', post(MAPS, { metadata: { generateName: 'one-' }, data: {} })),
  script('create with both names', post(MAPS, { metadata: { name: 'two', generateName: 'one-' } })),
  script('create twice', given(post(MAPS, configMap('one'))), post(MAPS, configMap('one'))),
  script('create without a name', post(MAPS, { metadata: {} })),
  script('create with a version', post(MAPS, configMap('one', {}, { resourceVersion: '5' }))),
  script('create in the wrong namespace', post(MAPS, configMap('one', {}, { namespace: 'other' }))),
  script(
    'create under a name that is taken changes nothing',
    given(post(MAPS, configMap('same'))),
    post(MAPS, configMap('same', { changed: 'yes' })),
    get(`${MAPS}/same`),
  ),
  script('read what a refused create has not left', post(MAPS, configMap('Not_A_Name')), get(`${MAPS}/Not_A_Name`)),
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
];
