/** One object of every kind that users list, in typical states. */
import type { Command } from './command.ts';
import { apply, set } from './command.ts';

const OLD = '2024-01-01T00:00:00Z';

const pod = (name: string, spec: string, labels = '{app: many}'): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}, labels: ${labels}}\nspec: ${spec}\n`;

const simple = '{containers: [{name: main, image: "nginx:1"}], nodeName: worker}';
const three =
  '{containers: [{name: main, image: "nginx:1"}, {name: side, image: "envoy:2"}], initContainers: [{name: prepare, image: "busybox:1"}, {name: proxy, image: "envoy:2", restartPolicy: Always}], nodeName: worker}';

const status = (name: string, fields: string): Command =>
  set(`patch pod ${name} --subresource=status --type=merge -p '{"status":${fields}}'`);

const running = (name: string, count: number): string =>
  `{"name":"${name}","image":"i","imageID":"x","ready":true,"restartCount":${count},"started":true,"containerID":"c://1","state":{"running":{"startedAt":"${OLD}"}}}`;
const waiting = (name: string, reason: string, count: number): string =>
  `{"name":"${name}","image":"i","imageID":"x","ready":false,"restartCount":${count},"started":false,"state":{"waiting":{"reason":"${reason}","message":"back-off"}},"lastState":{"terminated":{"exitCode":1,"reason":"Error","finishedAt":"${OLD}","startedAt":"${OLD}","containerID":"c://1"}}}`;
const ended = (name: string, code: number, reason: string): string =>
  `{"name":"${name}","image":"i","imageID":"x","ready":false,"restartCount":0,"started":false,"state":{"terminated":{"exitCode":${code},"reason":"${reason}","finishedAt":"${OLD}","startedAt":"${OLD}","containerID":"c://1"}}}`;
const ready = (value: string): string =>
  `[{"type":"Ready","status":"${value}","lastTransitionTime":"${OLD}"},{"type":"PodScheduled","status":"True","lastTransitionTime":"${OLD}"}]`;

/** Pods in all the states that the STATUS column knows. */
export const PODS: readonly Command[] = [
  apply(
    [
      pod('fine', simple),
      pod('crashing', simple),
      pod('pulling', simple),
      pod('creating', simple),
      pod('succeeded', simple),
      pod('failed', simple),
      pod('oom', simple),
      pod('signalled', simple),
      pod('evicted', simple),
      pod('starting', three),
      pod('init-failed', three),
      pod('init-waiting', three),
      pod('half-ready', three),
      pod('pending', '{containers: [{name: main, image: "nginx:1"}]}'),
      pod('gated', '{containers: [{name: main, image: "nginx:1"}], schedulingGates: [{name: hold}]}'),
      pod('nominated', '{containers: [{name: main, image: "nginx:1"}], readinessGates: [{conditionType: gate}]}'),
    ].join('---\n'),
  ),
  status(
    'fine',
    `{"phase":"Running","podIP":"10.1.0.1","podIPs":[{"ip":"10.1.0.1"}],"hostIP":"10.2.0.1","startTime":"${OLD}","conditions":${ready('True')},"containerStatuses":[${running('main', 0)}]}`,
  ),
  status(
    'crashing',
    `{"phase":"Running","conditions":${ready('False')},"containerStatuses":[${waiting('main', 'CrashLoopBackOff', 5)}]}`,
  ),
  status(
    'pulling',
    `{"phase":"Pending","containerStatuses":[{"name":"main","image":"i","imageID":"","ready":false,"restartCount":0,"state":{"waiting":{"reason":"ImagePullBackOff"}}}]}`,
  ),
  status(
    'creating',
    `{"phase":"Pending","containerStatuses":[{"name":"main","image":"i","imageID":"","ready":false,"restartCount":0,"state":{"waiting":{"reason":"ContainerCreating"}}}]}`,
  ),
  status('succeeded', `{"phase":"Succeeded","containerStatuses":[${ended('main', 0, 'Completed')}]}`),
  status('failed', `{"phase":"Failed","containerStatuses":[${ended('main', 2, 'Error')}]}`),
  status('oom', `{"phase":"Running","containerStatuses":[${ended('main', 137, 'OOMKilled')}]}`),
  status(
    'signalled',
    `{"phase":"Failed","containerStatuses":[{"name":"main","image":"i","imageID":"x","ready":false,"restartCount":1,"state":{"terminated":{"exitCode":137,"signal":9}}}]}`,
  ),
  status('evicted', `{"phase":"Failed","reason":"Evicted","message":"The node was low on resource: memory."}`),
  status(
    'starting',
    `{"phase":"Pending","initContainerStatuses":[{"name":"prepare","image":"i","imageID":"x","ready":false,"restartCount":0,"state":{"running":{"startedAt":"${OLD}"}}},{"name":"proxy","image":"i","imageID":"","ready":false,"restartCount":0,"state":{"waiting":{"reason":"PodInitializing"}}}],"containerStatuses":[{"name":"main","image":"i","imageID":"","ready":false,"restartCount":0,"state":{"waiting":{"reason":"PodInitializing"}}}]}`,
  ),
  status('init-failed', `{"phase":"Pending","initContainerStatuses":[${ended('prepare', 3, 'Error')}]}`),
  status('init-waiting', `{"phase":"Pending","initContainerStatuses":[${waiting('prepare', 'CrashLoopBackOff', 4)}]}`),
  status(
    'half-ready',
    `{"phase":"Running","conditions":${ready('False')},"initContainerStatuses":[${ended('prepare', 0, 'Completed')},${running('proxy', 2)}],"containerStatuses":[${running('main', 0)},${waiting('side', 'CrashLoopBackOff', 3)}]}`,
  ),
  status(
    'nominated',
    `{"nominatedNodeName":"worker","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes are available","lastTransitionTime":"${OLD}"}]}`,
  ),
  apply(pod('leaving', simple)),
  status('leaving', `{"phase":"Running","containerStatuses":[${running('main', 1)}]}`),
  set('delete pod leaving --wait=false'),
];

export const STATEFUL_SET = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, labels: {app: db}}
spec:
  serviceName: db
  replicas: 3
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers:
        - {name: main, image: "postgres:16", volumeMounts: [{name: data, mountPath: /data}], ports: [{containerPort: 5432, name: sql}], readinessProbe: {tcpSocket: {port: sql}, periodSeconds: 5}}
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 10Gi}}}
`;

export const DAEMON_SET = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, labels: {app: agent}}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      nodeSelector: {kubernetes.io/os: linux}
      tolerations: [{operator: Exists}]
      hostNetwork: true
      containers:
        - {name: main, image: "agent:3", env: [{name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}], securityContext: {privileged: true}, volumeMounts: [{name: host, mountPath: /host, readOnly: true}], resources: {limits: {cpu: 100m, memory: 50Mi}}}
      volumes: [{name: host, hostPath: {path: /, type: Directory}}]
`;

export const REPLICA_SET = `apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: set, labels: {app: set}}
spec:
  replicas: 2
  selector: {matchLabels: {app: set}, matchExpressions: [{key: tier, operator: In, values: [front, back]}]}
  template:
    metadata: {labels: {app: set, tier: front}}
    spec: {containers: [{name: main, image: "nginx:1"}]}
`;

export const REPLICATION_CONTROLLER = `apiVersion: v1
kind: ReplicationController
metadata: {name: old}
spec:
  replicas: 2
  selector: {app: old}
  template: {metadata: {labels: {app: old}}, spec: {containers: [{name: main, image: "nginx:1"}]}}
`;

export const JOB = `apiVersion: batch/v1
kind: Job
metadata: {name: work, labels: {app: work}}
spec:
  completions: 4
  parallelism: 2
  backoffLimit: 3
  activeDeadlineSeconds: 600
  ttlSecondsAfterFinished: 60
  template:
    metadata: {labels: {app: work}}
    spec: {restartPolicy: Never, containers: [{name: main, image: "busybox:1", command: [sh, -c, "exit 0"]}]}
`;

export const CRON_JOB = `apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  timeZone: Europe/Berlin
  concurrencyPolicy: Forbid
  suspend: true
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: OnFailure, containers: [{name: main, image: "busybox:1", args: [a, b]}]}
`;

export const SERVICES = `apiVersion: v1
kind: Service
metadata: {name: lb, labels: {app: web}, annotations: {service.beta.kubernetes.io/azure-load-balancer-internal: "true"}}
spec:
  type: LoadBalancer
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}, {name: https, port: 443, targetPort: web}]
  externalTrafficPolicy: Local
  sessionAffinity: ClientIP
---
apiVersion: v1
kind: Service
metadata: {name: headless}
spec: {clusterIP: None, selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: outside}
spec: {type: ExternalName, externalName: example.com}
---
apiVersion: v1
kind: Service
metadata: {name: ported}
spec: {type: NodePort, selector: {app: web}, ports: [{port: 53, protocol: UDP}], externalIPs: [192.0.2.7]}
`;

export const INGRESSES = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: edge, annotations: {a: b}}
spec:
  ingressClassName: nginx
  tls: [{hosts: [a.example.com], secretName: cert}]
  rules:
    - host: a.example.com
      http:
        paths:
          - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
          - {path: /api, pathType: Exact, backend: {service: {name: api, port: {name: http}}}}
    - http: {paths: [{path: /x, pathType: ImplementationSpecific, backend: {service: {name: web, port: {number: 80}}}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: catch-all}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
`;

export const NETWORK_POLICY = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: fence}
spec:
  podSelector: {matchLabels: {app: web}}
  policyTypes: [Ingress, Egress]
  ingress:
    - from:
        - {namespaceSelector: {matchLabels: {team: a}}}
        - {podSelector: {matchLabels: {app: client}}}
        - {ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}
      ports: [{port: 80, protocol: TCP}]
  egress: [{to: [], ports: [{port: 53, protocol: UDP}]}]
`;

export const CLAIM = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, labels: {app: db}}
spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 5Gi}}}
`;

export const VOLUME = `apiVersion: v1
kind: PersistentVolume
metadata: {name: NS-pv, labels: {zone: a}}
spec:
  capacity: {storage: 5Gi}
  accessModes: [ReadWriteOnce, ReadOnlyMany]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: fast
  csi: {driver: disk.csi.azure.com, volumeHandle: /subscriptions/x/disk, fsType: ext4, volumeAttributes: {a: b}}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [eastus-1]}]}]}}
`;

export const STORAGE_CLASS = `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: NS-fast, annotations: {a: b}}
provisioner: disk.csi.azure.com
parameters: {skuName: Premium_LRS}
reclaimPolicy: Delete
volumeBindingMode: WaitForFirstConsumer
allowVolumeExpansion: true
mountOptions: [noatime]
allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [eastus-1]}]}]
`;

export const AUTOSCALER = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 10
  metrics:
    - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}
    - {type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 100Mi}}}
    - {type: Pods, pods: {metric: {name: rps}, target: {type: AverageValue, averageValue: "1k"}}}
  behavior: {scaleDown: {stabilizationWindowSeconds: 60, policies: [{type: Percent, value: 10, periodSeconds: 60}]}}
`;

export const BUDGETS = `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: least}
spec: {minAvailable: 50%, selector: {matchLabels: {app: web}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: most}
spec: {maxUnavailable: 1, selector: {matchExpressions: [{key: app, operator: Exists}]}, unhealthyPodEvictionPolicy: AlwaysAllow}
`;

export const LIMITS = `apiVersion: v1
kind: LimitRange
metadata: {name: limits}
spec:
  limits:
    - {type: Container, default: {cpu: 500m, memory: 256Mi}, defaultRequest: {cpu: 100m}, max: {cpu: "2"}, min: {cpu: 10m}, maxLimitRequestRatio: {cpu: "10"}}
    - {type: PersistentVolumeClaim, max: {storage: 10Gi}, min: {storage: 1Gi}}
`;

export const QUOTA = `apiVersion: v1
kind: ResourceQuota
metadata: {name: quota}
spec: {hard: {pods: "4", requests.cpu: "2", limits.memory: 4Gi, count/configmaps: "10", services.loadbalancers: "1"}}
`;

export const LEASE = `apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: leader}
spec: {holderIdentity: one, leaseDurationSeconds: 15, acquireTime: "2024-01-01T00:00:00.000000Z", renewTime: "2024-01-01T00:00:00.000000Z", leaseTransitions: 2}
`;

export const ENDPOINT_SLICE = `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, labels: {kubernetes.io/service-name: headless}}
addressType: IPv4
ports: [{name: "", port: 80, protocol: TCP}]
endpoints:
  - {addresses: [10.1.0.1], conditions: {ready: true}, nodeName: worker, targetRef: {kind: Pod, name: a, namespace: NS}, zone: eastus-1}
  - {addresses: [10.1.0.2], conditions: {ready: false}}
`;

export const SECRETS = `apiVersion: v1
kind: Secret
metadata: {name: plain}
stringData: {user: admin, password: hush}
---
apiVersion: v1
kind: Secret
metadata: {name: tls}
type: kubernetes.io/tls
data: {tls.crt: "", tls.key: ""}
---
apiVersion: v1
kind: Secret
metadata: {name: locked}
immutable: true
data: {a: Yg==}
`;

export const EVENTS = `apiVersion: v1
kind: Event
metadata: {name: first}
involvedObject: {kind: Pod, name: x, namespace: NS, fieldPath: "spec.containers{main}"}
reason: Pulled
message: Container image already present
type: Normal
count: 4
source: {component: kubelet, host: worker}
firstTimestamp: "2024-01-01T00:00:00Z"
lastTimestamp: "2024-01-02T00:00:00Z"
---
apiVersion: v1
kind: Event
metadata: {name: second}
involvedObject: {kind: Pod, name: why, namespace: NS}
reason: FailedScheduling
message: |
  0/3 nodes are available:
  none fit.
type: Warning
eventTime: "2024-01-03T00:00:00.000000Z"
reportingComponent: default-scheduler
reportingInstance: default-scheduler-1
action: Scheduling
series: {count: 3, lastObservedTime: "2024-01-03T01:00:00.000000Z"}
`;

export const RUNTIME_CLASS = `apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: NS-kata}
handler: kata
overhead: {podFixed: {cpu: 100m}}
scheduling: {nodeSelector: {kata: "true"}}
`;

export const RICH_POD = `apiVersion: v1
kind: Pod
metadata:
  name: rich
  labels: {app: rich}
  annotations: {one: "1", two: "a longer note"}
spec:
  nodeName: worker
  priorityClassName: system-node-critical
  serviceAccountName: default
  terminationGracePeriodSeconds: 5
  nodeSelector: {disk: ssd, kubernetes.io/os: linux}
  securityContext: {runAsUser: 1000, fsGroup: 2000}
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b]}]}]}}}
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: rich}}}]
  tolerations: [{key: spot, operator: Equal, value: "true", effect: NoSchedule}, {key: x, operator: Exists, effect: NoExecute, tolerationSeconds: 60}]
  initContainers: [{name: prepare, image: "busybox:1", command: [sh, -c], args: ["echo hello"]}]
  containers:
    - name: main
      image: nginx:1
      ports: [{containerPort: 80, name: http}, {containerPort: 53, protocol: UDP, hostPort: 53}]
      envFrom: [{configMapRef: {name: settings, optional: true}}, {secretRef: {name: plain}, prefix: P_}]
      env:
        - {name: PLAIN, value: x}
        - {name: FROM_FIELD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        - {name: FROM_SECRET, valueFrom: {secretKeyRef: {name: plain, key: user}}}
        - {name: FROM_MAP, valueFrom: {configMapKeyRef: {name: settings, key: colour, optional: true}}}
        - {name: FROM_RESOURCE, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
      resources: {requests: {cpu: 250m, memory: 64Mi}, limits: {cpu: "1", memory: 128Mi}}
      livenessProbe: {httpGet: {path: /healthz, port: 80, scheme: HTTPS}, initialDelaySeconds: 3}
      readinessProbe: {exec: {command: [cat, /ready]}, failureThreshold: 5}
      startupProbe: {grpc: {port: 9000}}
      volumeMounts:
        - {name: config, mountPath: /config, readOnly: true}
        - {name: scratch, mountPath: /scratch, subPath: a}
        - {name: claim, mountPath: /claim}
      lifecycle: {preStop: {exec: {command: [sleep, "1"]}}}
  volumes:
    - {name: config, configMap: {name: settings, items: [{key: colour, path: c}]}}
    - {name: scratch, emptyDir: {medium: Memory, sizeLimit: 1Gi}}
    - {name: claim, persistentVolumeClaim: {claimName: data}}
    - {name: hidden, secret: {secretName: plain}}
    - {name: own, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
    - {name: host, hostPath: {path: /var, type: DirectoryOrCreate}}
    - {name: disk, csi: {driver: inline.csi.k8s.io, volumeAttributes: {a: b}}}
    - {name: made, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}
    - {name: nfs, nfs: {server: s, path: /p}}
`;

export const FULL_NODE = `apiVersion: v1
kind: Node
metadata:
  name: NS-full
  labels: {kubernetes.io/hostname: NS-full, node-role.kubernetes.io/control-plane: "", node-role.kubernetes.io/agent: "", kubernetes.io/role: worker, topology.kubernetes.io/zone: "1"}
  annotations: {a: b}
spec:
  unschedulable: true
  podCIDR: 10.244.0.0/24
  providerID: azure:///subscriptions/x
  taints: [{key: spot, value: "true", effect: NoSchedule}, {key: gone, effect: NoExecute}]
status:
  capacity: {cpu: "4", memory: 16Gi, pods: "110", ephemeral-storage: 100Gi, hugepages-2Mi: "0"}
  allocatable: {cpu: 3800m, memory: 14Gi, pods: "110", ephemeral-storage: 90Gi, hugepages-2Mi: "0"}
  addresses: [{type: InternalIP, address: 10.2.0.4}, {type: Hostname, address: NS-full}, {type: ExternalIP, address: 192.0.2.1}]
  conditions:
    - {type: MemoryPressure, status: "False", reason: KubeletHasSufficientMemory, message: fine, lastHeartbeatTime: "2024-01-01T00:00:00Z", lastTransitionTime: "2024-01-01T00:00:00Z"}
    - {type: Ready, status: "False", reason: KubeletNotReady, message: not yet, lastHeartbeatTime: "2024-01-01T00:00:00Z", lastTransitionTime: "2024-01-01T00:00:00Z"}
  nodeInfo: {kubeletVersion: v1.36.0, osImage: Ubuntu 24.04, kernelVersion: "6.8", containerRuntimeVersion: "containerd://2.0", architecture: amd64, operatingSystem: linux, bootID: a, kubeProxyVersion: v1.36.0, machineID: b, systemUUID: c}
  images: [{names: ["nginx:1"], sizeBytes: 100}]
  volumesAttached: [{name: disk, devicePath: "0"}]
`;
