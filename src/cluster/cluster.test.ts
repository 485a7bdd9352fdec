import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Node, Pod } from '../api/kinds.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Labels, Taints } from '../api/labels.ts';
import { addResources, equalResources, formatResources, noResources } from '../units/resources.ts';
import { Quantity } from '../units/quantity.ts';
import { Cluster } from './cluster.ts';

interface ClaimShape {
  readonly pool?: string;
  readonly providerID?: string;
  readonly deleting?: boolean;
  readonly cpu?: string;
  readonly version?: number;
  readonly uid?: string;
}

function claim(name: string, shape: ClaimShape = {}): NodeClaim {
  const { pool = 'default', providerID, deleting, cpu = '4', version, uid = `uid-${name}` } = shape;
  return {
    metadata: {
      name,
      uid,
      labels: { [Labels.nodePool]: pool },
      ...(version !== undefined && { resourceVersion: String(version) }),
      ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: {
      nodeClassRef: { group: 'g', kind: 'k', name: 'n' },
      requirements: [{ key: Labels.zone, operator: 'In', values: ['zone-1'] }],
      resources: { requests: { cpu: '2' } },
      expireAfter: 'Never',
    },
    ...(providerID && { status: { providerID, capacity: { cpu }, allocatable: { cpu } } }),
  };
}

function node(name: string, providerID?: string, labels: Record<string, string> = {}): Node {
  return {
    metadata: { name, labels },
    spec: { ...(providerID && { providerID }), taints: [Taints.unregistered] },
    status: { capacity: { cpu: '8' }, allocatable: { cpu: '7' } },
  };
}

const OURS = { [Labels.nodePool]: 'default' };
const REGISTERED = { ...OURS, [Labels.registered]: 'true' };
const INITIALIZED = { ...REGISTERED, [Labels.initialized]: 'true' };

function pod(name: string, nodeName?: string, more: Partial<Pod['metadata']> = {}): Pod {
  return {
    metadata: { name, namespace: 'default', uid: `uid-${name}`, ...more },
    spec: { ...(nodeName && { nodeName }), containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] },
    ...(!nodeName && { status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] } }),
  };
}

const names = (cluster: Cluster): string[] => cluster.snapshot().nodes.map(({ name }) => name);
const only = (cluster: Cluster) => {
  const [view, ...others] = cluster.snapshot().nodes;
  if (!view || others.length > 0) throw new Error(`expected one node, not ${names(cluster).join()}`);
  return view;
};

describe('the view of a node', () => {
  it('promises what its claim requests until the cloud has reported the instance', () => {
    const cluster = new Cluster();
    cluster.setClaim(claim('a'));
    const view = only(cluster);
    expect(formatResources(view.allocatable)).toEqual({ cpu: '2' });
    expect(view.labels).toMatchObject({ [Labels.zone]: 'zone-1' });
    cluster.setClaim(claim('a', { providerID: 'p' }));
    expect(formatResources(only(cluster).allocatable)).toEqual({ cpu: '4' });
  });

  it('is one, whichever object comes first and whatever their names', () => {
    for (const order of [0, 1]) {
      const cluster = new Cluster();
      const steps = [
        () => cluster.setClaim(claim('a', { providerID: 'p' })),
        () => cluster.setNode(node('n', 'p', REGISTERED)),
      ];
      for (const step of order ? steps.reverse() : steps) step();
      expect(only(cluster)).toMatchObject({ name: 'n', registered: true, initialized: false });
    }
  });

  it('is not counted twice when a Node joins before its claim has the provider ID', () => {
    const cluster = new Cluster();
    cluster.setClaim(claim('a'));
    cluster.setNode(node('n', 'p', OURS));
    expect(names(cluster)).toEqual(['a']);
    cluster.setClaim(claim('a', { providerID: 'p' }));
    expect(names(cluster)).toEqual(['a']);
    cluster.setNode(node('n', 'p', REGISTERED));
    expect(names(cluster)).toEqual(['n']);
  });

  it('is hidden while a Node of ours has no provider ID yet', () => {
    const cluster = new Cluster();
    cluster.setNode(node('n', undefined, OURS));
    expect(names(cluster)).toEqual([]);
    cluster.setNode(node('foreign'));
    expect(only(cluster)).toMatchObject({ name: 'foreign', registered: true, initialized: true });
  });

  it('uses the values of its claim until it is initialized, and its own afterwards', () => {
    const cluster = new Cluster();
    cluster.setClaim({
      ...claim('a', { providerID: 'p' }),
      metadata: { ...claim('a').metadata, labels: { ...OURS, team: 'x' } },
    });
    const joining = node('n', 'p', OURS);
    cluster.setNode({ ...joining, status: { allocatable: { cpu: '7', memory: '0' } } });
    expect(only(cluster)).toMatchObject({ name: 'a', registered: false, taints: [], labels: { team: 'x' } });
    expect(formatResources(only(cluster).allocatable)).toMatchObject({ cpu: '7' });
    cluster.setNode(node('n', 'p', INITIALIZED));
    expect(only(cluster)).toMatchObject({ initialized: true, taints: [Taints.unregistered] });
  });

  it('moves to another Node when the provider ID does', () => {
    const cluster = new Cluster();
    cluster.setClaim(claim('a', { providerID: 'p' }));
    cluster.setNode(node('n', 'p', REGISTERED));
    cluster.setNode(node('n', 'q', REGISTERED));
    expect(cluster.nodesByProviderID('p')).toEqual([]);
    expect(names(cluster)).toEqual(['a', 'n']);
  });

  it('exists until both claim and Node are gone', () => {
    const cluster = new Cluster();
    cluster.setClaim(claim('a', { providerID: 'p' }));
    cluster.setNode(node('n', 'p', REGISTERED));
    cluster.removeClaim('a');
    expect(names(cluster)).toEqual(['n']);
    cluster.removeNode('n');
    expect(names(cluster)).toEqual([]);
  });

  it.each([
    ['the claim is being deleted', () => claim('a', { providerID: 'p', deleting: true })],
    [
      'its instance is on the way out',
      () => {
        const base = claim('a', { providerID: 'p' });
        const condition = { type: 'InstanceTerminating', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
        return { ...base, status: { ...base.status, conditions: [condition] } } as NodeClaim;
      },
    ],
  ])('accepts no more pods when %s', (_why, make) => {
    const cluster = new Cluster();
    cluster.setClaim(make());
    expect(only(cluster).deleting).toBe(true);
    expect(cluster.poolUsage('default')).toEqual({});
  });

  it('accepts no more pods after a loop has marked it for deletion, until the mark is removed', () => {
    const cluster = new Cluster();
    cluster.setClaim(claim('a', { providerID: 'p' }));
    cluster.markForDeletion('a');
    expect(only(cluster).deleting).toBe(true);
    cluster.unmarkForDeletion('a');
    expect(only(cluster).deleting).toBe(false);
    cluster.markForDeletion('a');
    cluster.removeClaim('a');
    cluster.setClaim(claim('a', { providerID: 'p', uid: 'another' }));
    expect(only(cluster).deleting).toBe(false);
  });
});

describe('pods', () => {
  it('count on their node until they end, even while they are being deleted', () => {
    const cluster = new Cluster();
    cluster.setNode(node('n'));
    cluster.setPod(pod('a', 'n'));
    cluster.setPod(pod('b', 'n', { deletionTimestamp: '2026-01-01T00:00:00Z' }));
    expect(formatResources(only(cluster).requested)).toEqual({ cpu: '2', pods: '2' });
    cluster.setPod({ ...pod('a', 'n'), status: { phase: 'Succeeded' } });
    expect(formatResources(only(cluster).requested)).toEqual({ cpu: '1', pods: '1' });
  });

  it('may be seen before their node', () => {
    const cluster = new Cluster();
    cluster.setPod(pod('a', 'n'));
    cluster.setNode(node('n'));
    expect(formatResources(only(cluster).requested)).toEqual({ cpu: '1', pods: '1' });
  });

  it('move their requests when the name appears on another node', () => {
    const cluster = new Cluster();
    cluster.setNode(node('n'));
    cluster.setNode(node('m'));
    cluster.setPod(pod('a', 'n'));
    cluster.setPod(pod('a', 'm'));
    const [m, n] = cluster.snapshot().nodes;
    expect([m?.pods.length, n?.pods.length]).toEqual([1, 0]);
  });

  it('of DaemonSets: the newest is known', () => {
    const cluster = new Cluster();
    const owner = { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd' }] };
    cluster.setPod(pod('old', 'n', { ...owner, creationTimestamp: '2026-01-01T00:00:00Z' }));
    cluster.setPod(pod('new', 'n', { ...owner, creationTimestamp: '2026-01-02T00:00:00Z' }));
    const daemonSet = { metadata: { name: 'd', uid: 'd' } };
    expect(cluster.newestDaemonPod(daemonSet)?.metadata.name).toBe('new');
    const changed = pod('new', 'n', { ...owner, creationTimestamp: '2026-01-02T00:00:00Z' });
    cluster.setPod(changed);
    expect(cluster.newestDaemonPod(daemonSet)).toBe(changed);
    cluster.setPod(pod('newest', 'n', { ...owner, creationTimestamp: '2026-01-03T00:00:00Z' }));
    expect(cluster.newestDaemonPod(daemonSet)?.metadata.name).toBe('newest');
    cluster.removePod(pod('newest', 'n', owner));
    cluster.removePod(pod('new', 'n', owner));
    expect(cluster.newestDaemonPod(daemonSet)?.metadata.name).toBe('old');
    cluster.removePod(pod('old', 'n', owner));
    expect(cluster.newestDaemonPod(daemonSet)).toBeUndefined();
  });
});

const claimOf = (cluster: Cluster, waiting: Pod, now: number): string | undefined =>
  cluster.places.of(waiting, now)?.target;

describe('a place', () => {
  const waiting = pod('w');

  it('is valid while the node is launching, and a little longer', () => {
    const cluster = new Cluster();
    cluster.setClaim(claim('a'));
    cluster.places.hold('plan', [{ target: 'a', pods: [waiting] }], 1_000);
    expect(claimOf(cluster, waiting, 1_000_000)).toBe('claim/a');
    cluster.setClaim(claim('a', { providerID: 'p' }));
    cluster.setNode(node('n', 'p', INITIALIZED));
    expect(claimOf(cluster, waiting, 999)).toBe('claim/a');
    expect(claimOf(cluster, waiting, 1_000)).toBeUndefined();
  });

  it.each([
    ['the claim goes', (cluster: Cluster) => cluster.removeClaim('a')],
    ['the claim is being deleted', (cluster: Cluster) => cluster.setClaim(claim('a', { deleting: true }))],
    ['the pod goes', (cluster: Cluster) => cluster.removePod(waiting)],
    ['the pod is bound', (cluster: Cluster) => cluster.setPod(pod('w', 'n'))],
  ])('ends when %s', (_why, step) => {
    const cluster = new Cluster();
    cluster.setClaim(claim('a'));
    cluster.setPod(waiting);
    cluster.places.hold('plan', [{ target: 'a', pods: [waiting] }], 1_000);
    step(cluster);
    expect(claimOf(cluster, waiting, 0)).toBeUndefined();
  });
});

it('keeps the place of a pod whose current node is being removed, whatever happens to that pod', () => {
  const cluster = new Cluster();
  cluster.setClaim(claim('a'));
  cluster.setPod(pod('w', 'old'));
  cluster.places.hold('plan', [{ target: 'a', pods: [pod('w', 'old')] }], 1_000);
  cluster.setPod({ ...pod('w', 'old'), status: { phase: 'Running' } });
  expect(claimOf(cluster, pod('w', 'old'), 0)).toBe('claim/a');
});

it('keeps the later end of two nominations, and drops it with the node', () => {
  const cluster = new Cluster();
  cluster.setNode(node('n'));
  cluster.places.hold('plan', [{ target: 'n', pods: [pod('w')] }], 2_000);
  cluster.places.hold('plan', [{ target: 'n', pods: [pod('w')] }], 1_000);
  expect([cluster.isNominated('n', 1_999), cluster.isNominated('n', 2_000)]).toEqual([true, false]);
  cluster.places.hold('plan', [{ target: 'n', pods: [pod('w')] }], 9_000);
  cluster.removeNode('n');
  expect(cluster.isNominated('n', 0)).toBe(false);
});

describe('the answer to a write', () => {
  it('is not undone by an event from before it', () => {
    const cluster = new Cluster();
    cluster.addClaim(claim('a', { version: 8 }));
    cluster.updateClaim(claim('a', { providerID: 'p', version: 10 }));
    cluster.setClaim(claim('a', { version: 9 }));
    expect(only(cluster).providerID).toBe('p');
    cluster.setClaim(claim('a', { providerID: 'q', version: 11 }));
    expect(only(cluster).providerID).toBe('q');
  });

  it('does not bring back a deleted claim, known before or not', () => {
    const cluster = new Cluster();
    cluster.setClaim(claim('a', { version: 1 }));
    cluster.removeClaim('a', 'uid-a');
    cluster.updateClaim(claim('a', { version: 2 }));
    cluster.removeClaim('b', 'uid-b');
    cluster.addClaim(claim('b', { version: 3 }));
    expect(names(cluster)).toEqual([]);
    cluster.addClaim(claim('a', { uid: 'namesake' }));
    expect(names(cluster)).toEqual(['a']);
  });

  it('does not bring back a Node or a pod, nor replace a new one of the same name', () => {
    const cluster = new Cluster();
    cluster.updateNode(node('n'));
    cluster.updatePod(pod('a', 'n'));
    expect([cluster.node('n'), cluster.pod({ name: 'a' })]).toEqual([undefined, undefined]);
    cluster.setPod(pod('a', 'm', { uid: 'successor' }));
    cluster.updatePod(pod('a', 'n'));
    cluster.removePod(pod('a', 'n'));
    expect(cluster.podsOn('m')).toHaveLength(1);
  });

  it('older than what the watch has shown is ignored', () => {
    const cluster = new Cluster();
    cluster.setPod(pod('a', 'n', { resourceVersion: '7' }));
    cluster.updatePod(pod('a', 'm', { resourceVersion: '6' }));
    expect(cluster.podsOn('n')).toHaveLength(1);
  });
});

it('follows the watch back to an older version: the API server was restored from a backup', () => {
  const cluster = new Cluster();
  cluster.setClaim(claim('a', { providerID: 'p', version: 10 }));
  cluster.setClaim(claim('a', { version: 9 }));
  expect(only(cluster).providerID).toBeUndefined();
});

it('removes only the deleted object, not its successor of the same name', () => {
  const cluster = new Cluster();
  cluster.addClaim(claim('a', { uid: 'second' }));
  cluster.removeClaim('a', 'first');
  cluster.setNode({ ...node('n'), metadata: { name: 'n', uid: 'second' } });
  cluster.removeNode('n', 'first');
  expect(names(cluster)).toEqual(['a', 'n']);
});

it('returns the same snapshot until something changes, and shares the rest afterwards', () => {
  const cluster = new Cluster();
  const stored = { ...node('n'), metadata: { name: 'n', uid: 'n', resourceVersion: '5' } };
  cluster.setNode(stored);
  cluster.setPod(pod('w'));
  const before = cluster.snapshot();
  cluster.setNode({ ...stored });
  cluster.unmarkForDeletion('n');
  expect(cluster.snapshot()).toBe(before);
  cluster.setNode(node('m'));
  const after = cluster.snapshot();
  expect(after.version).toBeGreaterThan(before.version);
  expect(after.nodes.find(({ name }) => name === 'n')).toBe(before.nodes[0]);
  expect(after.pendingPods).toBe(before.pendingPods);
  expect(before.nodes).toHaveLength(1);
});

type Step = { readonly kind: string; readonly index: number; readonly apply: (cluster: Cluster) => void };

describe('after any sequence of events', () => {
  const index = fc.nat({ max: 3 });
  const providerID = fc.option(fc.constantFrom('p0', 'p1', 'p2'), { nil: undefined });
  // A claim recreated under its name is a new one.
  let serial = 0;
  const claimStep = fc
    .record({ index, providerID, deleting: fc.boolean(), pool: fc.constantFrom('x', 'y') })
    .map(({ index: at, providerID: id, ...shape }): Step => {
      const uid = `uid-${serial++}`;
      return {
        kind: 'claim',
        index: at,
        apply: (cluster) => cluster.setClaim(claim(`c${at}`, { ...shape, uid, ...(id && { providerID: id }) })),
      };
    });
  const nodeStep = fc
    .record({ index, providerID, labels: fc.constantFrom({}, OURS, REGISTERED, INITIALIZED) })
    .map(({ index: at, providerID: id, labels }): Step => ({
      kind: 'node',
      index: at,
      apply: (cluster) => cluster.setNode(node(`n${at}`, id, labels)),
    }));
  const podStep = fc.record({ index, on: fc.option(index, { nil: undefined }) }).map(({ index: at, on }): Step => ({
    kind: 'pod',
    index: at,
    apply: (cluster) => cluster.setPod(pod(`p${at}`, on === undefined ? undefined : `n${on}`)),
  }));
  const removal = fc
    .record({ index, kind: fc.constantFrom('claim', 'node', 'pod') })
    .map(({ index: at, kind }): Step => ({
      kind,
      index: at,
      apply: (cluster) => {
        if (kind === 'claim') cluster.removeClaim(`c${at}`);
        else if (kind === 'node') cluster.removeNode(`n${at}`);
        else cluster.removePod(pod(`p${at}`));
      },
    }));

  it('the cluster contains exactly the current objects', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(claimStep, nodeStep, podStep, removal), { maxLength: 40 }), (steps) => {
        const lived = new Cluster();
        const last = new Map<string, Step>();
        for (const step of steps) {
          step.apply(lived);
          lived.poolUsage('x');
          last.set(`${step.kind}/${step.index}`, step);
        }
        // Two claims of one provider ID cannot exist; the last one wins.
        const ids = lived.snapshot().nodes.flatMap(({ providerID: id }) => id ?? []);
        fc.pre(new Set(ids).size === ids.length);
        const fresh = new Cluster();
        for (const step of steps) if (last.get(`${step.kind}/${step.index}`) === step) step.apply(fresh);
        expect({ ...lived.snapshot(), version: 0 }).toEqual({ ...fresh.snapshot(), version: 0 });
        for (const pool of ['x', 'y', 'default']) {
          const nodes = lived.snapshot().nodes.filter((view) => view.nodePool === pool && !view.deleting);
          const sum = addResources(noResources, ...nodes.map(({ capacity }) => capacity), {
            nodes: Quantity.fromValue(nodes.length),
          });
          expect(equalResources(lived.poolUsage(pool), sum)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});
