/** What the command lines work on. */
export const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: main
          image: nginx:1.25
          ports: [{containerPort: 80}]
          resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}
`;

export const CHANGED_DEPLOYMENT = DEPLOYMENT.replace('replicas: 2', 'replicas: 3').replace('nginx:1.25', 'nginx:1.26');

export const CONFIG_MAP = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: blue, size: "10"}
`;

export const POD = `apiVersion: v1
kind: Pod
metadata: {name: solo, labels: {app: solo, tier: back}, annotations: {note: here}}
spec:
  nodeName: worker
  containers:
    - {name: main, image: "busybox:1.36", command: [sleep, "1000"], resources: {requests: {cpu: 250m}}}
    - {name: side, image: "busybox:1.36", env: [{name: A, value: b}]}
  tolerations: [{key: spot, operator: Exists, effect: NoSchedule}]
`;

export const NODE = `apiVersion: v1
kind: Node
metadata: {name: NS-node, labels: {kubernetes.io/hostname: NS-node, topology.kubernetes.io/zone: "1"}}
spec:
  providerID: azure:///x
status:
  capacity: {cpu: "4", memory: 16Gi, pods: "110"}
  conditions:
    - {type: Ready, status: "True", reason: KubeletReady, message: ok, lastHeartbeatTime: "2024-01-01T00:00:00Z", lastTransitionTime: "2024-01-01T00:00:00Z"}
  nodeInfo: {kubeletVersion: v1.36.0, osImage: Ubuntu, kernelVersion: "5.15", containerRuntimeVersion: "containerd://2", architecture: amd64, operatingSystem: linux, bootID: a, kubeProxyVersion: "", machineID: b, systemUUID: c}
`;

export const BROKEN = `apiVersion: apps/v1
kind: Deployment
metadata: {name: broken}
spec:
  replicas: two
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, imag: x}]}}
`;

export const DEFINITION = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: NS-gadgets.NS.example.com}
spec:
  group: NS.example.com
  scope: Namespaced
  names: {plural: NS-gadgets, singular: NS-gadget, kind: Gadget, listKind: GadgetList, shortNames: [NS-gd]}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}, scale: {specReplicasPath: .spec.count, statusReplicasPath: .status.count}}
      additionalPrinterColumns:
        - {name: Count, type: integer, jsonPath: .spec.count}
        - {name: Colour, type: string, jsonPath: .spec.colour, priority: 1}
      schema:
        openAPIV3Schema:
          type: object
          description: A gadget.
          properties:
            spec:
              type: object
              description: What is wanted.
              required: [count]
              properties:
                count: {type: integer, minimum: 0, description: How many.}
                colour: {type: string, default: red, enum: [red, blue]}
            status:
              type: object
              properties: {count: {type: integer}}
`;

export const GADGET = `apiVersion: NS.example.com/v1
kind: Gadget
metadata: {name: one}
spec: {count: 2}
`;
