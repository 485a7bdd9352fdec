import { describe, expect, it } from 'vitest';
import type { Node, Pod } from '../../api/kinds.ts';
import { ClusterView } from './clusterView.ts';
import { cycleState, filterNode, unschedulableMessage } from './filters.ts';
import { podInfo } from './podInfo.ts';

const ZONE = 'topology.kubernetes.io/zone';

function pod(
  name: string,
  spec: object = {},
  labels: Record<string, string> = { app: 'web' },
  requests = { cpu: '1' },
): Pod {
  return {
    metadata: { name, namespace: 'default', labels },
    spec: { containers: [{ name: 'main', resources: { requests } }], ...spec },
  };
}

type Placed = readonly [Node, readonly Pod[]];

function nodeWith(name: string, zone: string, pods: readonly Pod[] = [], spec: Node['spec'] = {}): Placed {
  const allocatable = { cpu: '4', memory: '8Gi', pods: '10' };
  const labels = { [ZONE]: zone, 'kubernetes.io/hostname': name };
  return [{ metadata: { name, labels }, spec, status: { allocatable } }, pods];
}

function ask(candidate: Pod, nodes: readonly Placed[]): Record<string, readonly string[]> {
  const view = new ClusterView();
  for (const [node, pods] of nodes) {
    view.setNode(node);
    for (const pod of pods) view.place(podInfo(pod), node.metadata.name);
  }
  const state = cycleState(podInfo(candidate), view, () => ({}));
  return Object.fromEntries(view.nodes.map((node) => [node.name, filterNode(state, node).reasons]));
}

const selector = { matchLabels: { app: 'web' } };

describe('filters', () => {
  it('require enough of every resource, including pods', () => {
    const full = nodeWith('full', 'z1', [pod('a', {}, {}, { cpu: '3500m' })]);
    expect(ask(pod('b'), [full])).toEqual({ full: ['Insufficient cpu'] });
    const crowded = nodeWith(
      'crowded',
      'z1',
      Array.from({ length: 10 }, (_, index) => pod(`p${index}`, {}, {}, { cpu: '0' })),
    );
    expect(ask(pod('b'), [crowded])).toEqual({ crowded: ['Too many pods'] });
  });

  it('reject tainted and cordoned nodes for pods without tolerations', () => {
    const tainted = nodeWith('n', 'z1', [], { taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] });
    expect(ask(pod('p'), [tainted]).n).toEqual(['node(s) had untolerated taint(s)']);
    expect(ask(pod('p', { tolerations: [{ key: 'gpu', operator: 'Equal', value: 'yes' }] }), [tainted]).n).toEqual([]);
    expect(ask(pod('p', { tolerations: [{ key: 'gpu', value: 'no' }] }), [tainted]).n).toHaveLength(1);
    expect(ask(pod('p'), [nodeWith('n', 'z1', [], { unschedulable: true })]).n).toEqual(['node(s) were unschedulable']);
  });

  it('accept nodes that match any node affinity term; an empty term matches none', () => {
    const affinity = (nodeSelectorTerms: object[]): object => ({
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
    });
    const inZone = (zone: string): object => ({ matchExpressions: [{ key: ZONE, operator: 'In', values: [zone] }] });
    const nodes = [nodeWith('a', 'z1'), nodeWith('b', 'z2')];
    expect(ask(pod('p', affinity([inZone('z9'), inZone('z2')])), nodes).b).toEqual([]);
    expect(ask(pod('p', affinity([inZone('z9'), inZone('z2')])), nodes).a).toHaveLength(1);
    expect(ask(pod('p', affinity([{}])), nodes).a).toHaveLength(1);
  });

  it('limit the skew of a zonal spread', () => {
    const spread = {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector },
      ],
    };
    const nodes = [nodeWith('a', 'z1', [pod('x')]), nodeWith('b', 'z2')];
    expect(ask(pod('p', spread), nodes)).toEqual({
      a: ["node(s) didn't match pod topology spread constraints"],
      b: [],
    });
    const minDomains = { topologySpreadConstraints: [{ ...spread.topologySpreadConstraints[0], minDomains: 3 }] };
    expect(
      ask(pod('p', minDomains), [nodeWith('a', 'z1', [pod('x')]), nodeWith('b', 'z2', [pod('y')])]).b,
    ).toHaveLength(1);
  });

  it('accept the first pod of a group with affinity to itself, and apply anti-affinity in both directions', () => {
    const term = { topologyKey: ZONE, labelSelector: selector };
    const together = { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
    expect(ask(pod('p', together), [nodeWith('a', 'z1'), nodeWith('b', 'z2')])).toEqual({ a: [], b: [] });
    expect(ask(pod('p', together), [nodeWith('a', 'z1', [pod('x')]), nodeWith('b', 'z2')]).b).toHaveLength(1);
    const apart = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
    const nodes = [nodeWith('a', 'z1', [pod('x', apart)]), nodeWith('b', 'z2')];
    expect(ask(pod('p'), nodes)).toEqual({ a: ["node(s) didn't satisfy existing pods anti-affinity rules"], b: [] });
    expect(ask(pod('p', apart), [nodeWith('a', 'z1', [pod('x')]), nodeWith('b', 'z2')]).a).toEqual([
      "node(s) didn't match pod anti-affinity rules",
    ]);
  });

  it('reject nodes on which a host port is in use', () => {
    const port = { containers: [{ name: 'main', ports: [{ containerPort: 80, hostPort: 80 }] }] };
    expect(ask(pod('p', port), [nodeWith('a', 'z1', [pod('x', port)])]).a).toEqual([
      "node(s) didn't have free ports for the requested pod ports",
    ]);
  });
});

describe('unschedulableMessage', () => {
  it('counts the reasons like kube-scheduler', () => {
    expect(unschedulableMessage(0, new Map())).toBe('no nodes available to schedule pods');
    expect(
      unschedulableMessage(
        2,
        new Map([
          ['Insufficient cpu', 2],
          ['Insufficient memory', 1],
        ]),
      ),
    ).toBe('0/2 nodes are available: 1 Insufficient memory, 2 Insufficient cpu.');
  });
});
