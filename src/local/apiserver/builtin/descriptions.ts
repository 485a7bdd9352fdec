/** What `kubectl explain` says about Kubernetes' own kinds and their most used fields, in our own words. */
export interface TypeDescription {
  readonly about?: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
}

/** Fields that mean the same wherever they occur at the top of an object. */
export const COMMON_FIELDS: Readonly<Record<string, string>> = {
  apiVersion: 'Group and version of this kind, such as apps/v1.',
  kind: 'What this object is, such as Pod.',
  metadata: 'Name, namespace, labels and the bookkeeping that every object has.',
  spec: 'What is wanted.',
  status: 'What is, as last observed. Written by the system.',
};

/** `# package`, then types and their fields, each with its description; fields that are not listed have none. */
const TEXT = `
# io.k8s.apimachinery.pkg.apis.meta.v1
ObjectMeta: What every object carries beside its content: identity, labels, ownership and life.
  name: Unique within the namespace for objects of this kind. Cannot change.
  namespace: The namespace that the object lives in. Cannot change.
  labels: Short key and value pairs to select objects by.
  annotations: Key and value pairs for tools to keep whatever they need.
  generateName: The server appends a random ending to this when no name is given.
  uid: Tells this object from all others, also from earlier ones of the same name.
  resourceVersion: Changes with every write; send it back to write only if there was no other write since.
  generation: Counts changes of what is wanted.
  creationTimestamp: When the object was created.
  deletionTimestamp: When the object was asked to go; it goes once its finalizers are gone.
  deletionGracePeriodSeconds: Seconds that the object has to end by itself.
  finalizers: Work that must be done before the object may go. A controller that has done its part removes its entry.
  ownerReferences: The objects that this one depends on; it is removed when all of them are gone.
  managedFields: Which writer last set which fields.
LabelSelector: A choice of objects by their labels. Both parts must hold; an empty selector chooses everything.
  matchLabels: Labels that must have exactly these values.
  matchExpressions: Conditions on labels: In, NotIn, Exists, DoesNotExist.
OwnerReference: A pointer to an object that this one depends on.
  blockOwnerDeletion: When the owner is deleted in the foreground, it waits for this object to go first.
  controller: The owner manages this object. At most one owner does.
# io.k8s.api.core.v1
Pod: One or more containers that run together on one node.
PodSpec: How a pod is to run.
  containers: The containers of the pod; at least one.
  initContainers: Containers that run one after another before the others start.
  nodeName: The node that the pod runs on; set by the scheduler.
  nodeSelector: Labels that a node must have for the pod to run on it.
  affinity: Finer rules about nodes and about the nearness of other pods.
  tolerations: Taints of nodes that do not keep this pod away.
  topologySpreadConstraints: How evenly pods like this one spread over zones or nodes.
  priorityClassName: Names the importance of the pod when there is not enough room.
  priority: The value of the priority class; filled in by the server.
  preemptionPolicy: Whether this pod may push out less important ones.
  restartPolicy: What happens to containers that end: Always, OnFailure or Never.
  terminationGracePeriodSeconds: Seconds between the signal to stop and the kill. 30 unless given.
  activeDeadlineSeconds: The pod is ended when it has run for this long.
  serviceAccountName: The account under which the pod talks to the API.
  automountServiceAccountToken: Whether the token of the account is mounted.
  volumes: Storage that the containers can mount.
  hostNetwork: Use the network of the node.
  dnsPolicy: Where names are looked up.
  hostname: The name that the pod gives itself.
  imagePullSecrets: Secrets for registries that ask for credentials.
  schedulerName: The scheduler that places the pod.
  schedulingGates: While any of these is left, the pod is not scheduled.
  securityContext: User, group and other rights for all containers.
  runtimeClassName: The container runtime to use.
  overhead: Resources that the runtime itself needs; filled in by the server.
  readinessGates: Further conditions that must be true for the pod to be ready.
  resources: Resources of the pod as a whole.
  resourceClaims: Devices that must be allocated before the pod can start.
PodStatus: How the pod is doing.
  phase: Pending, Running, Succeeded, Failed or Unknown.
  conditions: Scheduled, initialised, containers ready, ready.
  containerStatuses: The state of each container.
  hostIP: Address of the node.
  podIP: Address of the pod.
  reason: A word on why the pod is in this phase.
  message: A sentence on why the pod is in this phase.
  qosClass: Guaranteed, Burstable or BestEffort, from requests and limits.
  nominatedNodeName: The node on which room is being made for the pod.
  startTime: When the node took the pod on.
Container: One program of a pod, in an image of its own.
  name: Unique within the pod. Cannot change.
  image: The image to run.
  command: Replaces the entry point of the image.
  args: Arguments of the command.
  env: Environment variables.
  envFrom: Config maps and secrets whose keys become environment variables.
  ports: Ports that the program listens on.
  resources: How much it asks for and how much it may use at most.
  volumeMounts: Where volumes of the pod appear in the file system.
  livenessProbe: The container is restarted when this check fails.
  readinessProbe: The container gets no traffic while this check fails.
  startupProbe: The other checks wait until this one has succeeded.
  lifecycle: Things to do after the start and before the end.
  imagePullPolicy: When the image is fetched: Always, IfNotPresent or Never.
  restartPolicy: Always makes an init container run beside the others.
  securityContext: User and rights of this container.
  workingDir: The directory in which the program starts.
ResourceRequirements: How much of what a container needs.
  requests: What the scheduler sets aside. Equal to the limit where only that is given.
  limits: The most that the container may use.
  claims: Device claims of the pod that this container uses.
Toleration: A taint that does not keep the pod away.
  key: Key of the taint; empty with Exists means all.
  operator: Equal (the value must match) or Exists.
  value: Value of the taint.
  effect: NoSchedule, PreferNoSchedule or NoExecute; empty means all.
  tolerationSeconds: How long a NoExecute taint is tolerated. For ever unless given.
Taint: Keeps pods off a node that do not tolerate it.
  key: Its name.
  value: Its value.
  effect: NoSchedule, PreferNoSchedule or NoExecute.
TopologySpreadConstraint: Keeps the number of pods in different zones or nodes close to each other.
  maxSkew: The largest difference allowed.
  topologyKey: The node label whose values are the places.
  whenUnsatisfiable: DoNotSchedule or ScheduleAnyway.
  labelSelector: Which pods are counted.
  minDomains: Fewer places than this count as if one of them were empty.
Affinity: Where a pod wants to be.
  nodeAffinity: About the labels of nodes.
  podAffinity: Near which other pods.
  podAntiAffinity: Away from which other pods.
Node: A host that runs pods.
NodeSpec: What the cluster decides about a node.
  taints: What keeps pods away that do not tolerate it.
  unschedulable: No new pods are placed here.
  providerID: The cloud's id of the instance behind the node.
  podCIDR: Addresses for the pods of this node.
NodeStatus: What the node says about itself.
  capacity: All resources of the node.
  allocatable: What is left of the capacity for pods.
  conditions: Ready, and whether memory, disk or process ids run short.
  addresses: How to reach the node.
  nodeInfo: Versions of its software.
  images: Images that are already there.
Namespace: A scope for names of objects; deleting it deletes its content.
Service: One stable address for a set of pods.
ServiceSpec: Which pods, under which address.
  type: ClusterIP, NodePort, LoadBalancer or ExternalName.
  selector: Labels of the pods that get the traffic.
  ports: Ports that are forwarded.
  clusterIP: The address inside the cluster; None for a service without one.
  externalName: The DNS name that this service stands for.
  sessionAffinity: ClientIP keeps a client at the same pod.
ConfigMap: Plain settings for pods to read.
  data: Texts by key.
  binaryData: Bytes by key, in base64.
  immutable: The content cannot change any more.
Secret: Settings that must be kept secret.
  data: Bytes by key, in base64.
  stringData: Plain texts by key; stored in data.
  type: What the secret is for.
  immutable: The content cannot change any more.
ServiceAccount: The account under which pods talk to the API.
Event: A note about something that happened to an object.
PersistentVolume: A piece of storage that outlives pods.
PersistentVolumeClaim: A request for storage, bound to a volume that satisfies it.
PersistentVolumeClaimSpec: What kind of storage is requested.
  accessModes: How many nodes may mount it, and how.
  resources: How much.
  storageClassName: The class of storage; the default class unless given.
  volumeName: The volume that it is bound to.
  volumeMode: Filesystem or Block.
LimitRange: Bounds and defaults for the sizes of pods in a namespace.
ResourceQuota: The most that a namespace may use.
ReplicationController: Keeps a number of equal pods running. ReplicaSets do it better.
PodTemplate: A description of pods to be made.
PodTemplateSpec: What the pods that are made from this look like.
Endpoints: The addresses behind a service. EndpointSlices have replaced it.
Volume: Storage of a pod, under a name that its containers mount.
  name: The name that mounts refer to.
  emptyDir: A directory that lives as long as the pod.
  configMap: The content of a config map.
  secret: The content of a secret.
  persistentVolumeClaim: The volume that a claim is bound to.
  hostPath: A directory of the node.
  ephemeral: A claim that is made for the pod and goes with it.
  projected: Several sources in one directory.
# io.k8s.api.apps.v1
Deployment: Keeps a number of equal pods running and replaces them step by step when they change.
DeploymentSpec: How many pods, what they look like, and how they are replaced.
  replicas: How many pods are wanted. 1 unless given.
  selector: Which pods belong to it. Must match the labels of the template and cannot change.
  template: What its pods look like.
  strategy: How old pods are replaced by new ones.
  minReadySeconds: Seconds for which a new pod must be ready before it counts as available.
  revisionHistoryLimit: How many old revisions are kept to roll back to. 10 unless given.
  progressDeadlineSeconds: Seconds without progress after which a rollout counts as failed. 600 unless given.
  paused: Changes are not rolled out.
DeploymentStrategy: How old pods are replaced by new ones.
  type: RollingUpdate replaces a few at a time; Recreate removes all old ones first.
  rollingUpdate: How many at a time, for RollingUpdate.
RollingUpdateDeployment: How many pods are replaced at a time.
  maxSurge: How many more than wanted there may be. 25% unless given.
  maxUnavailable: How many fewer than wanted there may be. 25% unless given.
ReplicaSet: Keeps a number of equal pods running. Usually made by a Deployment.
ReplicaSetSpec: How many pods and what they look like.
  replicas: How many pods are wanted. 1 unless given.
  selector: Which pods belong to it. Must match the labels of the template and cannot change.
  template: What its pods look like.
  minReadySeconds: Seconds for which a new pod must be ready before it counts as available.
StatefulSet: Pods with a number each, that keep their name and their storage.
StatefulSetSpec: How many pods, what they look like, and which storage each has.
  replicas: How many pods are wanted. 1 unless given.
  selector: Which pods belong to it. Must match the labels of the template and cannot change.
  template: What its pods look like.
  serviceName: The service under which the pods have names.
  volumeClaimTemplates: Claims that each pod gets for itself.
  podManagementPolicy: OrderedReady goes one by one; Parallel does not wait.
  updateStrategy: How old pods are replaced by new ones.
  minReadySeconds: Seconds for which a new pod must be ready before it counts as available.
  revisionHistoryLimit: How many old revisions are kept to roll back to. 10 unless given.
DaemonSet: One pod on every node, or on every node that fits.
DaemonSetSpec: What the pods look like and how they are replaced.
  selector: Which pods belong to it. Must match the labels of the template and cannot change.
  template: What its pods look like.
  updateStrategy: How old pods are replaced by new ones.
  minReadySeconds: Seconds for which a new pod must be ready before it counts as available.
  revisionHistoryLimit: How many old revisions are kept to roll back to. 10 unless given.
ControllerRevision: A remembered state of a StatefulSet or DaemonSet.
# io.k8s.api.batch.v1
Job: Pods that run to their end, until enough of them have succeeded.
JobSpec: How many runs, how many at a time, and what they look like.
  completions: How many pods must succeed.
  parallelism: How many may run at a time.
  backoffLimit: How many failures are tolerated. 6 unless given.
  activeDeadlineSeconds: The job is ended when it has run for this long.
  ttlSecondsAfterFinished: The job is removed this long after its end.
  completionMode: NonIndexed, or Indexed to number the pods.
  suspend: No pods are made, and running ones are removed.
  template: What its pods look like.
CronJob: A Job at certain times.
CronJobSpec: When, and which job.
  schedule: Minute, hour, day, month and weekday, as cron writes them.
  timeZone: The time zone of the schedule.
  concurrencyPolicy: What happens when the last job still runs: Allow, Forbid or Replace.
  suspend: No further jobs are started.
  jobTemplate: What the jobs look like.
# io.k8s.api.policy.v1
PodDisruptionBudget: How many pods of a kind may be taken away at a time.
PodDisruptionBudgetSpec: Which pods, and how many of them must stay.
  selector: The pods that are protected.
  minAvailable: How many must stay, as a number or a share.
  maxUnavailable: How many may be away, as a number or a share.
  unhealthyPodEvictionPolicy: Whether pods that are not ready may be evicted regardless.
# io.k8s.api.autoscaling.v2
HorizontalPodAutoscaler: Changes the number of pods with their load.
HorizontalPodAutoscalerSpec: What is scaled, within which bounds, by which measure.
  scaleTargetRef: What is scaled.
  minReplicas: The fewest pods. 1 unless given.
  maxReplicas: The most pods.
  metrics: The measures to follow. 80 % of the requested CPU unless given.
  behavior: How fast to go up and down.
# io.k8s.api.coordination.v1
Lease: Records the holder of something, and until when unless renewed.
# io.k8s.api.storage.v1
StorageClass: A kind of storage on offer.
  provisioner: The driver that makes the volumes.
  parameters: Settings for the provisioner.
  reclaimPolicy: What becomes of a volume when its claim goes: Delete or Retain.
  volumeBindingMode: Immediate, or WaitForFirstConsumer to let the pod’s node decide.
  allowVolumeExpansion: Claims may be made larger later.
  allowedTopologies: Where volumes may be made.
CSINode: The storage drivers of a node.
CSIDriver: A storage driver of the cluster.
VolumeAttachment: A volume that is, or is to be, attached to a node.
# io.k8s.api.scheduling.v1
PriorityClass: A name for how important pods are.
  value: The higher, the more important.
  globalDefault: For pods that name no class.
  preemptionPolicy: Whether pods of this class push out less important ones.
  description: What the class is for.
# io.k8s.api.rbac.v1
Role: A set of permissions within a namespace.
ClusterRole: A set of permissions for the whole cluster.
RoleBinding: Gives a role to users or accounts within a namespace.
ClusterRoleBinding: Gives a role to users or accounts for the whole cluster.
# io.k8s.api.networking.v1
Ingress: Which requests from outside go to which service.
NetworkPolicy: Which traffic pods may have.
# io.k8s.api.discovery.v1
EndpointSlice: Some of the addresses behind a service.
# io.k8s.api.node.v1
RuntimeClass: A container runtime that pods can ask for.
# io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1
CustomResourceDefinition: Adds a kind of object to the API.
`;

export const DESCRIPTIONS: ReadonlyMap<string, TypeDescription> = parse(TEXT);

function parse(text: string): Map<string, TypeDescription> {
  const types = new Map<string, TypeDescription>();
  let inPackage = '';
  let fields: Record<string, string> = {};
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [name = '', ...rest] = line.trim().split(': ');
    const about = rest.length === 0 ? undefined : rest.join(': ');
    if (line.startsWith('# ')) inPackage = line.slice(2);
    else if (line.startsWith(' ')) fields[name] = about ?? '';
    else {
      fields = {};
      types.set(`${inPackage}.${name}`, { about, fields });
    }
  }
  return types;
}
