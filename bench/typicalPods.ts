/**
 * Pods as an API server lists them on a busy AKS cluster: JSON with everything that a real pod carries (managedFields,
 * probes, environment, projected token volume, container statuses), most owned by ReplicaSets of 25 and DaemonSets,
 * some by Jobs and StatefulSets.
 */
import { createHash } from 'node:crypto';

const REPLICAS = 25;
const NODES = 5000;

const hex = (seed: string, length: number): string =>
  createHash('sha1').update(seed).digest('hex').padEnd(length, '0').slice(0, length);

const uuid = (seed: string): string => {
  const digits = hex(seed, 32);
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
};

const timestamp = (second: number): string =>
  new Date(Date.UTC(2026, 8, 1) + second * 1000).toISOString().slice(0, 19) + 'Z';

type OwnerKind = 'ReplicaSet' | 'DaemonSet' | 'Job' | 'StatefulSet';

function ownerOf(group: number): { kind: OwnerKind; apiVersion: string } {
  const lot = group % 20;
  if (lot < 14) return { kind: 'ReplicaSet', apiVersion: 'apps/v1' };
  if (lot < 17) return { kind: 'DaemonSet', apiVersion: 'apps/v1' };
  return lot < 19 ? { kind: 'Job', apiVersion: 'batch/v1' } : { kind: 'StatefulSet', apiVersion: 'apps/v1' };
}

/** The `index`-th pod; pods of one owner are neighbours, as they are in the API server's key order. */
export function typicalPod(index: number): object {
  const group = Math.floor(index / REPLICAS);
  const replica = index % REPLICAS;
  const owner = ownerOf(group);
  const namespace = `team-${String(Math.floor(group / 40)).padStart(4, '0')}`;
  const app = `service-${String(group).padStart(5, '0')}`;
  const hash = hex(`template-${group}`, 10);
  const tail = owner.kind === 'StatefulSet' ? `-${replica}` : `-${hash}-${index.toString(36).padStart(5, '0')}`;
  const name = `${app}${tail}`;
  const node = `aks-general-${hex(`pool-${(index * 7919) % 20}`, 8)}-vmss${((index * 7919) % NODES).toString(36).padStart(6, '0')}`;
  const started = 86_400 * (group % 30) + replica * 3 + (index % 7);
  const volume = `kube-api-access-${hex(`volume-${index}`, 5)}`;
  // Each Job pod has an owner of its own, as Jobs that a CronJob leaves behind do.
  const ownerName = owner.kind === 'Job' ? `${app}-${28_000_000 + index}` : `${app}-${hash}`;
  return {
    metadata: {
      name,
      generateName: `${app}-${hash}-`,
      namespace,
      uid: uuid(`uid-${index}`),
      resourceVersion: String(900_000_000 + index * 13),
      generation: 1,
      creationTimestamp: timestamp(started),
      labels: {
        'app.kubernetes.io/name': app,
        'app.kubernetes.io/instance': `${app}-prod`,
        'app.kubernetes.io/managed-by': 'Helm',
        'app.kubernetes.io/version': '1.14.2',
        team: namespace,
        ...(owner.kind === 'Job'
          ? { 'batch.kubernetes.io/controller-uid': uuid(`owner-${index}`), 'batch.kubernetes.io/job-name': ownerName }
          : owner.kind === 'StatefulSet'
            ? { 'statefulset.kubernetes.io/pod-name': name, 'apps.kubernetes.io/pod-index': String(replica) }
            : { 'pod-template-hash': hash }),
      },
      annotations: {
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': '9102',
        'checksum/config': hex(`config-${group}`, 40) + hex(`config2-${group}`, 24),
        ...(index % 50 === 0 ? { 'karpenter.sh/do-not-disrupt': 'true' } : {}),
      },
      ownerReferences: [
        {
          apiVersion: owner.apiVersion,
          kind: owner.kind,
          name: ownerName,
          uid: uuid(owner.kind === 'Job' ? `owner-${index}` : `owner-${group}`),
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: managedFields(uuid(`owner-${group}`), started),
    },
    spec: spec(app, namespace, node, volume),
    status: status(app, index, started),
  };
}

function spec(app: string, namespace: string, node: string, volume: string): object {
  const probe = (path: string): object => ({
    httpGet: { path, port: 'http', scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  });
  const mount = { name: volume, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' };
  return {
    volumes: [
      { name: 'config', configMap: { name: `${app}-config`, defaultMode: 420 } },
      {
        name: volume,
        projected: {
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
            { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            {
              downwardAPI: {
                items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
              },
            },
          ],
          defaultMode: 420,
        },
      },
    ],
    containers: [
      {
        name: 'app',
        image: `registry.example.com/${namespace}/${app}:1.14.2`,
        args: ['--listen=:8080', '--metrics=:9102', '--log-format=json'],
        ports: [
          { name: 'http', containerPort: 8080, protocol: 'TCP' },
          { name: 'metrics', containerPort: 9102, protocol: 'TCP' },
        ],
        env: [
          { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
          { name: 'NODE_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } } },
          { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: `${app}-db`, key: 'url' } } },
          { name: 'LOG_LEVEL', value: 'info' },
        ],
        resources: { limits: { memory: '512Mi' }, requests: { cpu: '250m', memory: '512Mi' } },
        volumeMounts: [{ name: 'config', mountPath: '/etc/app' }, mount],
        livenessProbe: probe('/healthz'),
        readinessProbe: probe('/readyz'),
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, runAsNonRoot: true },
      },
      {
        name: 'proxy',
        image: 'registry.example.com/mesh/proxy:2.4.1',
        resources: { limits: { memory: '128Mi' }, requests: { cpu: '50m', memory: '128Mi' } },
        volumeMounts: [mount],
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      },
    ],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: app,
    serviceAccount: app,
    nodeName: node,
    securityContext: { fsGroup: 65532 },
    schedulerName: 'default-scheduler',
    tolerations: [
      { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ],
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: { 'app.kubernetes.io/name': app } },
      },
    ],
  };
}

function status(app: string, index: number, started: number): object {
  const condition = (type: string, second: number): object => ({
    type,
    observedGeneration: 1,
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: timestamp(second),
  });
  const container = (name: string, second: number): object => ({
    name,
    state: { running: { startedAt: timestamp(second) } },
    lastState: {},
    ready: true,
    restartCount: 0,
    image: `registry.example.com/${app}/${name}:1.14.2`,
    imageID: `registry.example.com/${app}/${name}@sha256:${hex(app, 40)}${hex(name, 24)}`,
    containerID: `containerd://${hex(`container-${index}-${name}`, 40)}${hex(`rest-${index}-${name}`, 24)}`,
    started: true,
    allocatedResources: { cpu: '250m', memory: '512Mi' },
    resources: { limits: { memory: '512Mi' }, requests: { cpu: '250m', memory: '512Mi' } },
    user: { linux: { uid: 65532, gid: 65532, supplementalGroups: [65532] } },
  });
  return {
    observedGeneration: 1,
    phase: 'Running',
    conditions: [
      condition('PodReadyToStartContainers', started + 3),
      condition('Initialized', started),
      condition('Ready', started + 9),
      condition('ContainersReady', started + 9),
      condition('PodScheduled', started),
    ],
    hostIP: `10.224.${index % 250}.${(index >> 8) % 250}`,
    hostIPs: [{ ip: `10.224.${index % 250}.${(index >> 8) % 250}` }],
    podIP: `10.244.${(index >> 8) % 250}.${index % 250}`,
    podIPs: [{ ip: `10.244.${(index >> 8) % 250}.${index % 250}` }],
    startTime: timestamp(started),
    containerStatuses: [container('app', started + 3), container('proxy', started + 2)],
    qosClass: 'Burstable',
  };
}

function managedFields(ownerUid: string, started: number): object[] {
  return [
    {
      manager: 'kube-controller-manager',
      operation: 'Update',
      apiVersion: 'v1',
      time: timestamp(started),
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:metadata': {
          'f:annotations': {
            '.': {},
            'f:checksum/config': {},
            'f:prometheus.io/port': {},
            'f:prometheus.io/scrape': {},
          },
          'f:generateName': {},
          'f:labels': {
            '.': {},
            'f:app.kubernetes.io/instance': {},
            'f:app.kubernetes.io/managed-by': {},
            'f:app.kubernetes.io/name': {},
            'f:pod-template-hash': {},
          },
          'f:ownerReferences': { '.': {}, [`k:{"uid":"${ownerUid}"}`]: {} },
        },
        'f:spec': {
          'f:containers': {
            'k:{"name":"app"}': {
              '.': {},
              'f:args': {},
              'f:env': {
                '.': {},
                'k:{"name":"DATABASE_URL"}': {
                  '.': {},
                  'f:name': {},
                  'f:valueFrom': { '.': {}, 'f:secretKeyRef': {} },
                },
                'k:{"name":"LOG_LEVEL"}': { '.': {}, 'f:name': {}, 'f:value': {} },
                'k:{"name":"NODE_NAME"}': { '.': {}, 'f:name': {}, 'f:valueFrom': { '.': {}, 'f:fieldRef': {} } },
              },
              'f:image': {},
              'f:imagePullPolicy': {},
              'f:livenessProbe': {
                '.': {},
                'f:failureThreshold': {},
                'f:httpGet': { '.': {}, 'f:path': {}, 'f:port': {}, 'f:scheme': {} },
                'f:periodSeconds': {},
                'f:successThreshold': {},
                'f:timeoutSeconds': {},
              },
              'f:name': {},
              'f:ports': {
                '.': {},
                'k:{"containerPort":8080,"protocol":"TCP"}': {
                  '.': {},
                  'f:containerPort': {},
                  'f:name': {},
                  'f:protocol': {},
                },
              },
              'f:resources': {
                '.': {},
                'f:limits': { '.': {}, 'f:memory': {} },
                'f:requests': { '.': {}, 'f:cpu': {}, 'f:memory': {} },
              },
              'f:terminationMessagePath': {},
              'f:terminationMessagePolicy': {},
              'f:volumeMounts': { '.': {}, 'k:{"mountPath":"/etc/app"}': { '.': {}, 'f:mountPath': {}, 'f:name': {} } },
            },
          },
          'f:dnsPolicy': {},
          'f:enableServiceLinks': {},
          'f:restartPolicy': {},
          'f:schedulerName': {},
          'f:terminationGracePeriodSeconds': {},
        },
      },
    },
    {
      manager: 'kubelet',
      operation: 'Update',
      apiVersion: 'v1',
      time: timestamp(started + 9),
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:status': {
          'f:conditions': {
            'k:{"type":"ContainersReady"}': {
              '.': {},
              'f:lastProbeTime': {},
              'f:lastTransitionTime': {},
              'f:status': {},
              'f:type': {},
            },
            'k:{"type":"Ready"}': {
              '.': {},
              'f:lastProbeTime': {},
              'f:lastTransitionTime': {},
              'f:status': {},
              'f:type': {},
            },
          },
          'f:containerStatuses': {},
          'f:hostIP': {},
          'f:phase': {},
          'f:podIP': {},
          'f:podIPs': { '.': {}, 'k:{"ip":"10.244.0.1"}': { '.': {}, 'f:ip': {} } },
          'f:startTime': {},
        },
      },
      subresource: 'status',
    },
  ];
}
