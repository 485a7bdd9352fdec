import { describe, expect, it } from 'vitest';
import { Kinds, type Node, type Pod } from '../api/kinds.ts';
import { dropBookkeeping, keepAll, trimFor } from './trim.ts';

const freeze = <V>(value: V): V => {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
};

const pod = (name: string, changes: { node?: string; version?: string; started?: string } = {}): Pod =>
  freeze({
    metadata: {
      name,
      generateName: 'web-',
      namespace: 'apps',
      uid: `uid-${name}`,
      resourceVersion: changes.version ?? '1',
      generation: 2,
      creationTimestamp: '2026-01-01T00:00:00Z',
      deletionTimestamp: '2026-01-02T00:00:00Z',
      deletionGracePeriodSeconds: 30,
      labels: { app: 'web', 'pod-template-hash': 'abc' },
      annotations: {
        'karpenter.sh/do-not-disrupt': 'true',
        'kubectl.kubernetes.io/last-applied-configuration': '{}',
        'cni.projectcalico.org/podIP': '10.0.0.1',
      },
      finalizers: ['example.com/f'],
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs-1', controller: true }],
      managedFields: [{ manager: 'kubelet' }],
    },
    spec: {
      nodeName: changes.node ?? 'node-1',
      schedulerName: 'default-scheduler',
      serviceAccountName: 'web',
      dnsPolicy: 'ClusterFirst',
      priority: 0,
      priorityClassName: 'high',
      preemptionPolicy: 'Never',
      terminationGracePeriodSeconds: 30,
      restartPolicy: 'Always',
      hostNetwork: true,
      runtimeClassName: 'gvisor',
      overhead: { cpu: '10m' },
      nodeSelector: { disk: 'ssd' },
      affinity: { podAntiAffinity: {} },
      tolerations: [{ key: 'a', operator: 'Exists' }],
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
      schedulingGates: [{ name: 'gate' }],
      volumes: [
        { name: 'config', configMap: { name: 'web' } },
        { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
        { name: 'cache', ephemeral: { volumeClaimTemplate: { spec: { storageClassName: 'fast' } } } },
        { name: 'token', projected: { sources: [] } },
      ],
      initContainers: [{ name: 'sidecar', image: 'i', restartPolicy: 'Always', resources: { requests: { cpu: '1' } } }],
      containers: [
        {
          name: 'web',
          image: 'registry/web:1',
          command: ['/web'],
          env: [{ name: 'A', value: 'b' }],
          ports: [{ containerPort: 80, hostPort: 8080 }],
          resources: { requests: { cpu: '250m' }, limits: { memory: '1Gi' } },
          livenessProbe: { periodSeconds: 1 },
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        },
      ],
    },
    status: {
      phase: 'Running',
      reason: 'Because',
      nominatedNodeName: 'node-2',
      startTime: changes.started ?? '2026-01-01T00:00:01Z',
      podIP: '10.0.0.1',
      qosClass: 'Burstable',
      resize: 'InProgress',
      conditions: [
        { type: 'Ready', status: 'True', lastProbeTime: null as never, lastTransitionTime: '2026-01-01T00:00:02Z' },
        { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no room' },
      ],
      containerStatuses: [{ name: 'web', image: 'i', imageID: 'i', ready: true, restartCount: 0 }],
    },
  } satisfies Pod);

describe('the trim of pods', () => {
  it('keeps what scheduling and draining read, and nothing else', () => {
    expect(trimFor(Kinds.Pod)(pod('web-1'), undefined)).toMatchInlineSnapshot(`
      {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
          "annotations": {
            "karpenter.sh/do-not-disrupt": "true",
          },
          "creationTimestamp": "2026-01-01T00:00:00Z",
          "deletionGracePeriodSeconds": 30,
          "deletionTimestamp": "2026-01-02T00:00:00Z",
          "finalizers": [
            "example.com/f",
          ],
          "generation": 2,
          "labels": {
            "app": "web",
            "pod-template-hash": "abc",
          },
          "name": "web-1",
          "namespace": "apps",
          "ownerReferences": [
            {
              "apiVersion": "apps/v1",
              "controller": true,
              "kind": "ReplicaSet",
              "name": "web",
              "uid": "rs-1",
            },
          ],
          "resourceVersion": "1",
          "uid": "uid-web-1",
        },
        "spec": {
          "affinity": {
            "podAntiAffinity": {},
          },
          "containers": [
            {
              "name": "web",
              "ports": [
                {
                  "containerPort": 80,
                  "hostPort": 8080,
                },
              ],
              "resources": {
                "limits": {
                  "memory": "1Gi",
                },
                "requests": {
                  "cpu": "250m",
                },
              },
            },
          ],
          "hostNetwork": true,
          "initContainers": [
            {
              "name": "sidecar",
              "resources": {
                "requests": {
                  "cpu": "1",
                },
              },
              "restartPolicy": "Always",
            },
          ],
          "nodeName": "node-1",
          "nodeSelector": {
            "disk": "ssd",
          },
          "overhead": {
            "cpu": "10m",
          },
          "preemptionPolicy": "Never",
          "priority": 0,
          "priorityClassName": "high",
          "restartPolicy": "Always",
          "runtimeClassName": "gvisor",
          "schedulerName": "default-scheduler",
          "schedulingGates": [
            {
              "name": "gate",
            },
          ],
          "terminationGracePeriodSeconds": 30,
          "tolerations": [
            {
              "key": "a",
              "operator": "Exists",
            },
          ],
          "topologySpreadConstraints": [
            {
              "maxSkew": 1,
              "topologyKey": "zone",
              "whenUnsatisfiable": "DoNotSchedule",
            },
          ],
          "volumes": [
            {
              "name": "data",
              "persistentVolumeClaim": {
                "claimName": "data",
              },
            },
            {
              "ephemeral": {
                "volumeClaimTemplate": {
                  "spec": {
                    "storageClassName": "fast",
                  },
                },
              },
              "name": "cache",
            },
          ],
        },
        "status": {
          "conditions": [
            {
              "lastTransitionTime": "2026-01-01T00:00:02Z",
              "status": "True",
              "type": "Ready",
            },
            {
              "message": "no room",
              "reason": "Unschedulable",
              "status": "False",
              "type": "PodScheduled",
            },
          ],
          "nominatedNodeName": "node-2",
          "phase": "Running",
          "reason": "Because",
          "resize": "InProgress",
          "startTime": "2026-01-01T00:00:01Z",
        },
      }
    `);
  });

  it('lets siblings share what they have in common', () => {
    const trim = trimFor(Kinds.Pod);
    const first = trim(pod('web-1'), undefined);
    const second = trim(pod('web-2', { node: 'node-9' }), undefined);
    expect(second.metadata.name).toBe('web-2');
    expect(second.metadata.labels).toBe(first.metadata.labels);
    expect(second.metadata.ownerReferences).toBe(first.metadata.ownerReferences);
    expect(second.spec?.containers).toBe(first.spec?.containers);
    expect(second.spec?.volumes).toBe(first.spec?.volumes);
    expect(second.spec?.nodeName).toBe('node-9');
    expect(first.spec?.nodeName).toBe('node-1');
    expect(second.status?.conditions).toEqual(first.status?.conditions);
  });

  it('keeps the identity of what an update leaves alone', () => {
    const trim = trimFor(Kinds.Pod);
    const old = trim(pod('web-1'), undefined);
    const updated = trim(pod('web-1', { version: '2', started: '2026-01-05T00:00:00Z' }), old);
    expect(updated.metadata.resourceVersion).toBe('2');
    expect(updated.metadata.labels).toBe(old.metadata.labels);
    expect(updated.spec?.tolerations).toBe(old.spec?.tolerations);
    expect(updated.status?.startTime).toBe('2026-01-05T00:00:00Z');
  });

  it('gives the same as a trim without memory, for any order of pods', () => {
    const remembering = trimFor(Kinds.Pod);
    const pods = Array.from({ length: 30 }, (_, index) =>
      pod(`web-${index % 7}`, {
        node: `node-${index % 3}`,
        version: `${index}`,
        started: `2026-01-0${1 + (index % 5)}`,
      }),
    );
    let previous: Pod | undefined;
    for (const [index, raw] of pods.entries()) {
      const kept = remembering(raw, index % 2 === 0 ? undefined : previous);
      expect(kept).toEqual(trimFor(Kinds.Pod)(raw, undefined));
      previous = kept;
    }
  });
});

describe('other trims', () => {
  const node: Node = freeze({
    metadata: {
      name: 'n',
      annotations: { a: 'b', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
      managedFields: [{}],
    },
    spec: { providerID: 'azure:///x' },
    status: { images: [{ names: ['big'] }], capacity: { cpu: '4' } },
  });

  it('drop bookkeeping, and the images of nodes', () => {
    expect(trimFor(Kinds.Node)(node, undefined)).toEqual({
      metadata: { name: 'n', annotations: { a: 'b' } },
      spec: { providerID: 'azure:///x' },
      status: { capacity: { cpu: '4' } },
    });
    expect(trimFor(Kinds.NodePool)(node as never, undefined)).toEqual({
      ...node,
      metadata: { name: 'n', annotations: { a: 'b' } },
    });
    expect(keepAll(node)).toBe(node);
  });

  it('keep the identity of what an update leaves alone', () => {
    const old = dropBookkeeping(node, undefined);
    const updated = dropBookkeeping({ ...structuredClone(node), status: { capacity: { cpu: '8' } } }, old);
    expect(updated.spec).toBe(old.spec);
    expect(updated.metadata).toBe(old.metadata);
    expect(updated.status).toEqual({ capacity: { cpu: '8' } });
  });
});
