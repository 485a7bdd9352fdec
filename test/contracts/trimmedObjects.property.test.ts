/**
 * Informers may only drop fields that no reader uses: every reader gives the same result for the trimmed object as for
 * the whole one. Add new readers of pods or nodes to the tables below.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Kinds, type Node, type Pod, type PodDisruptionBudget } from '../../src/api/kinds.ts';
import { Annotations, Labels, Taints } from '../../src/api/labels.ts';
import { PodBudgets } from '../../src/cluster/disruptionBudgets.ts';
import { onlySkew, spreadKey, toldAtOnce } from '../../src/cluster/spreadOrder.ts';
import { firstTier, forcedFrom, isDrainable, isWaitingEviction, mustForce } from '../../src/cluster/drain.ts';
import { nodeView } from '../../src/cluster/nodeView.ts';
import { podRequirements, requirementTerms, strictPodRequirements } from '../../src/constraints/podRequirements.ts';
import { topologyTerms } from '../../src/constraints/topology.ts';
import { isVirtual } from '../../src/controllers/capacity-buffer/virtualPods.ts';
import { podObjection } from '../../src/controllers/planning/podValidation.ts';
import { resolvePodVolumes } from '../../src/controllers/planning/podVolumes.ts';
import { loadOf } from '../../src/disruption/podValues.ts';
import { Store } from '../../src/kube/store.ts';
import { trimFor } from '../../src/kube/trim.ts';
import { inDeletionOrder } from '../../src/pods/deletionOrder.ts';
import { disruptionShield, isDoNotDisrupt } from '../../src/pods/doNotDisrupt.ts';
import { evictionCost } from '../../src/pods/evictionCost.ts';
import { hostPortsOf } from '../../src/pods/hostPorts.ts';
import { hintedNode, HINT_ENTRIES, preemptedNode } from '../../src/api/placementHint.ts';
import { podKey } from '../../src/pods/podKey.ts';
import { matchesNodeAffinity } from '../../src/pods/nodeSelector.ts';
import { controllerOf, podKind } from '../../src/pods/podKind.ts';
import * as predicates from '../../src/pods/podPredicates.ts';
import { podLimits, podRequests } from '../../src/pods/podRequests.ts';
import { workloadOf } from '../../src/rehearsal/costReportOf.ts';
import { podGroup, readLoad, readRules, rulesKey } from '../../src/solver/model/podShape.ts';

const NOW = Date.UTC(2026, 0, 2);
const snapshot = { nodes: [], pools: [], daemons: [] } as unknown as Parameters<typeof readRules>[1];
const stores = { claims: new Store(), volumes: new Store(), classes: new Store() } as Parameters<
  typeof resolvePodVolumes
>[1];
const budget: PodDisruptionBudget = {
  metadata: { name: 'b', namespace: 'apps' },
  spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'a' } } },
};

/** A pod that is like this one, but has restarted once. */
const restarted = (pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, name: 'restarted' },
  status: { ...pod.status, containerStatuses: [{ restartCount: 1 }] } as Pod['status'] & object,
});

const POD_READERS: Readonly<Record<string, (pod: Pod) => unknown>> = {
  podKey,
  podRequests,
  podLimits,
  readLoad,
  readRules: (pod) => readRules(pod, snapshot),
  strictPodRequirements,
  podRequirements,
  topologyTerms: (pod) => topologyTerms(pod, new Map([['apps', { team: 'x' }]]), []),
  requirementTerms,
  hostPortsOf,
  podKind,
  controllerOf,
  workloadOf,
  podGroup,
  loadOf,
  rulesKey: (pod) => rulesKey(pod, snapshot),
  matchesNodeAffinity: (pod) => matchesNodeAffinity(pod, { metadata: { name: 'n', labels: { zone: 'a' } } }),
  inDeletionOrder: (pod) => inDeletionOrder([pod, restarted(pod)], [pod], NOW).map(({ metadata }) => metadata.name),
  spreadKey,
  toldAtOnce,
  onlySkew,
  isVirtual,
  hintedNode,
  preemptedNode,
  ...predicates,
  disruptionShield: (pod) => disruptionShield(pod, NOW),
  isDoNotDisrupt: (pod) => isDoNotDisrupt(pod, NOW),
  evictionCost,
  isDrainable: (pod) => isDrainable(pod, NOW),
  isWaitingEviction: (pod) => isWaitingEviction(pod, NOW),
  forcedFrom: (pod) => forcedFrom(pod, NOW),
  mustForce: (pod) => mustForce(pod, NOW, NOW),
  drainTier: (pod) => firstTier([pod, { ...pod, spec: { containers: [] } }]).length,
  isFullyBlocked: (pod) => new PodBudgets([budget]).isFullyBlocked(pod),
  refusing: (pod) => new PodBudgets([budget]).refusing(pod),
  resolvePodVolumes: (pod) => resolvePodVolumes(pod, stores),
  podObjection,
  nodeRequested: (pod) => {
    const { requested, daemonRequested } = nodeView({ node: { metadata: { name: 'n' } } }, [pod]);
    return { requested, daemonRequested };
  },
};

const NODE_READERS: Readonly<Record<string, (node: Node) => unknown>> = {
  nodeView: (node) => ({ ...nodeView({ node }, []), node: undefined }),
  conditions: ({ status }) => status?.conditions,
  finalizers: ({ metadata }) => metadata.finalizers,
  taints: ({ spec }) => spec?.taints,
};

const quantity = fc.constantFrom('0', '100m', '1', '2', '64Mi', '1Gi');
const list = fc.dictionary(fc.constantFrom('cpu', 'memory', 'ephemeral-storage', 'nvidia.com/gpu'), quantity);
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });
/** Without the fields that are undefined, as JSON has it. */
const json = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const resources = fc.record({ requests: optional(list), limits: optional(list) });
const container = (name: string, init: boolean): fc.Arbitrary<unknown> =>
  fc.record({
    name: fc.constant(name),
    image: fc.constant('registry/app:1'),
    env: fc.constant([{ name: 'A', value: 'b' }]),
    resources: optional(resources),
    ports: optional(fc.constant([{ containerPort: 80, hostPort: 8080, protocol: 'TCP' }])),
    ...(init && { restartPolicy: optional(fc.constant('Always')) }),
  });
const containerStatus = (name: string): fc.Arbitrary<unknown> =>
  fc.record({
    name: fc.constant(name),
    ready: fc.boolean(),
    restartCount: fc.nat(3),
    resources: optional(resources),
    allocatedResources: optional(list),
  });
const condition = fc.record({
  type: fc.constantFrom('Ready', 'PodScheduled', 'PodResizePending', 'PodResizeInProgress'),
  status: fc.constantFrom('True', 'False'),
  reason: optional(fc.constantFrom('Unschedulable', 'Infeasible', 'Deferred')),
  lastTransitionTime: fc.constant('2026-01-01T00:00:00Z'),
});
const expression = fc.record({
  key: fc.constantFrom('zone', Labels.nodePool, Labels.zone),
  operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist'),
  values: fc.constantFrom(['a'], ['a', 'b']),
});
const selector = fc.record({ matchLabels: fc.constantFrom({ app: 'a' }, { app: 'b' }) });
const volume = fc.constantFrom(
  { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
  { name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: { storageClassName: 'fast' } } } },
  { name: 'config', configMap: { name: 'c' } },
  { name: 'token', projected: { sources: [] } },
);
const owner = fc.constantFrom(
  { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd' },
  { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 's', uid: 's' },
  { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'n' },
);
const toleration = fc.constantFrom(
  { operator: 'Exists' },
  { key: Taints.disrupted.key, operator: 'Exists', effect: 'NoSchedule' },
);

const pod: fc.Arbitrary<Pod> = fc
  .record({
    metadata: fc.record({
      name: fc.constantFrom('a', 'b'),
      namespace: fc.constant('apps'),
      uid: fc.constantFrom('1', '2'),
      resourceVersion: fc.nat(9).map(String),
      creationTimestamp: fc.constant('2026-01-01T00:00:00Z'),
      deletionTimestamp: optional(fc.constantFrom('2026-01-01T23:00:00Z', '2026-01-02T01:00:00Z')),
      labels: optional(fc.constantFrom({ app: 'a' }, { app: 'b', rev: '1' })),
      annotations: optional(
        fc.record({
          [Annotations.doNotDisrupt]: fc.constantFrom('true', '2h', 'never'),
          'controller.kubernetes.io/pod-deletion-cost': fc.constantFrom('5', '-100'),
          'nodewright.dev/pod-group': fc.constantFrom('', 'g'),
          'cni.projectcalico.org/podIP': fc.constant('10.0.0.1'),
        }),
      ),
      ownerReferences: optional(fc.array(owner, { minLength: 1, maxLength: 1 })),
      managedFields: fc.constantFrom([{ manager: 'kubelet' }], [{ manager: 'kubelet' }, ...HINT_ENTRIES]),
    }),
    spec: fc.record({
      nodeName: optional(fc.constant('n')),
      containers: fc.tuple(container('main', false), container('side', false)),
      initContainers: optional(fc.tuple(container('init', true), container('sidecar', true))),
      overhead: optional(list),
      resources: optional(resources),
      nodeSelector: optional(fc.constant({ zone: 'a' })),
      affinity: optional(
        fc.record({
          nodeAffinity: fc.record({
            requiredDuringSchedulingIgnoredDuringExecution: optional(
              fc.record({ nodeSelectorTerms: fc.array(fc.record({ matchExpressions: fc.array(expression) })) }),
            ),
            preferredDuringSchedulingIgnoredDuringExecution: optional(
              fc.array(
                fc.record({ weight: fc.nat(9), preference: fc.record({ matchExpressions: fc.array(expression) }) }),
              ),
            ),
          }),
          podAntiAffinity: fc.record({
            requiredDuringSchedulingIgnoredDuringExecution: fc.array(
              fc.record({ labelSelector: selector, topologyKey: fc.constant(Labels.zone) }),
            ),
          }),
        }),
      ),
      topologySpreadConstraints: optional(
        fc.array(
          fc.record({
            maxSkew: fc.constantFrom(1, 2),
            topologyKey: fc.constant(Labels.zone),
            whenUnsatisfiable: fc.constantFrom('DoNotSchedule', 'ScheduleAnyway'),
            labelSelector: selector,
          }),
          { maxLength: 1 },
        ),
      ),
      tolerations: optional(fc.array(toleration, { maxLength: 2 })),
      volumes: optional(fc.uniqueArray(volume, { selector: ({ name }) => name })),
      priority: optional(fc.constantFrom(0, 1_000)),
      priorityClassName: optional(fc.constantFrom('system-node-critical', 'low')),
      terminationGracePeriodSeconds: optional(fc.constantFrom(0, 30)),
      resourceClaims: optional(fc.constant([{ name: 'gpu' }])),
      serviceAccountName: fc.constant('web'),
    }),
    status: optional(
      fc.record({
        phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed'),
        nominatedNodeName: optional(fc.constant('n')),
        conditions: optional(fc.uniqueArray(condition, { selector: ({ type }) => type })),
        containerStatuses: optional(fc.tuple(containerStatus('main'), containerStatus('side'))),
        initContainerStatuses: optional(fc.tuple(containerStatus('init'), containerStatus('sidecar'))),
        podIP: fc.constant('10.0.0.1'),
      }),
    ),
  })
  .map((whole) => json(whole) as unknown as Pod);

const node: fc.Arbitrary<Node> = fc
  .record({
    metadata: fc.record({
      name: fc.constant('n'),
      labels: optional(fc.constantFrom({ [Labels.nodePool]: 'p', [Labels.registered]: 'true' }, { zone: 'a' })),
      finalizers: optional(fc.constant(['karpenter.sh/termination'])),
      deletionTimestamp: optional(fc.constant('2026-01-01T00:00:00Z')),
      managedFields: fc.constant([{ manager: 'kubelet' }]),
    }),
    spec: fc.record({
      providerID: optional(fc.constant('id')),
      taints: optional(fc.constantFrom([Taints.unregistered], [Taints.disrupted])),
    }),
    status: fc.record({
      capacity: optional(list),
      allocatable: optional(list),
      conditions: optional(fc.array(condition)),
      images: fc.constant([{ names: ['a'], sizeBytes: 1 }]),
    }),
  })
  .map((whole) => json(whole) as unknown as Node);

describe('a trimmed pod', () => {
  it.each(Object.entries(POD_READERS))('is the same as the whole one to %s', (_name, read) => {
    fc.assert(
      fc.property(fc.array(pod, { minLength: 1, maxLength: 3 }), (pods) => {
        // One trim for several pods and versions, as in an informer: sharing must not change results.
        const trim = trimFor(Kinds.Pod);
        let previous: Pod | undefined;
        for (const whole of pods) {
          const trimmed = trim(whole, previous);
          expect(read(trimmed)).toEqual(read(whole));
          previous = trimmed;
        }
      }),
    );
  });
});

describe('a trimmed node', () => {
  it.each(Object.entries(NODE_READERS))('is the same as the whole one to %s', (_name, read) => {
    const trim = trimFor(Kinds.Node);
    fc.assert(
      fc.property(node, (whole) => {
        expect(read(trim(whole, undefined))).toEqual(read(whole));
      }),
    );
  });
});
