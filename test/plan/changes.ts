/** Random changes of a settled cluster, as what `plan` reads and as what is written to the API server. */
import { Kinds, type Deployment, type PodDisruptionBudget } from '../../src/api/kinds.ts';
import type { NodePool } from '../../src/api/kinds/nodePool.ts';
import { Labels } from '../../src/api/labels.ts';
import type { Kube } from '../../src/kube/kube.ts';
import type { Draw } from '../fixtures/explain/troubles.ts';
import { poolSpec } from '../fixtures/engine/workbench.ts';

type PoolSpec = NodePool['spec'];

/** What a change is about, and the object after it. */
export type Change = { readonly title: string } & (
  | { readonly kind: 'pool'; readonly pool: NodePool }
  | { readonly kind: 'deployment'; readonly deployment: Deployment }
  | { readonly kind: 'budget'; readonly budget: PodDisruptionBudget }
);

const CPU = ['100m', '300m', '500m', '900m', '1500m'];

function deploymentOf(name: string, replicas: number, cpu: string): Deployment {
  const labels = { app: name };
  const containers = [{ name: 'main', image: 'app', resources: { requests: { cpu, memory: '256Mi' } } }];
  return {
    metadata: { name, namespace: 'default' },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  };
}

/** One or two pools and a few workloads that fit. */
export async function settleable(kube: Kube, draw: Draw): Promise<void> {
  for (let pool = draw.between(1, 2); pool > 0; pool--) {
    const budgets = [{ nodes: draw.pick(['100%', '50%', '1', '10%']) }];
    const consolidateAfter = draw.pick(['0s', '0s', '30s', '5m']);
    const spec = { ...poolSpec(), disruption: { ...poolSpec().disruption, budgets, consolidateAfter } };
    await kube.create(Kinds.NodePool, { metadata: { name: `pool-${pool}` }, spec });
  }
  for (let app = draw.between(2, 4); app > 0; app--) {
    await kube.create(Kinds.Deployment, deploymentOf(`app-${app}`, draw.between(1, 4), draw.pick(CPU)));
  }
}

const withTemplate = (spec: PoolSpec, change: Partial<PoolSpec['template']['spec']>): PoolSpec => ({
  ...spec,
  template: { ...spec.template, spec: { ...spec.template.spec, ...change } },
});
const disrupting = (spec: PoolSpec, change: Partial<PoolSpec['disruption']>): PoolSpec => ({
  ...spec,
  disruption: { ...spec.disruption, ...change },
});

const POOL_CHANGES: Readonly<Record<string, (spec: PoolSpec, draw: Draw) => PoolSpec>> = {
  'a label on its nodes': (spec) => ({
    ...spec,
    template: { ...spec.template, metadata: { labels: { 'example.com/tier': 'new' } } },
  }),
  'other instance types': (spec, draw) => {
    const values = draw.pick([['m2'], ['m4'], ['m8'], ['m4', 'm8']]);
    return withTemplate(spec, { requirements: [{ key: Labels.instanceType, operator: 'In', values }] });
  },
  'one zone': (spec) =>
    withTemplate(spec, { requirements: [{ key: Labels.zone, operator: 'In', values: ['zone-1'] }] }),
  'an end of life': (spec) => withTemplate(spec, { expireAfter: '720h' }),
  'a taint that nothing tolerates': (spec) =>
    withTemplate(spec, { taints: [{ key: 'example.com/only', effect: 'NoSchedule' }] }),
  'a limit': (spec, draw) => ({ ...spec, limits: { cpu: draw.pick(['1', '4', '64']) } }),
  'no disruption': (spec) => disrupting(spec, { budgets: [{ nodes: '0' }] }),
  'more disruption': (spec) => disrupting(spec, { budgets: [{ nodes: '100%' }] }),
  'empty nodes only': (spec) => disrupting(spec, { consolidationPolicy: 'WhenEmpty' }),
  'no consolidation': (spec) => disrupting(spec, { consolidateAfter: 'Never' }),
  'another weight': (spec, draw) => ({ ...spec, weight: draw.between(1, 50) }),
  'a grace period': (spec) => withTemplate(spec, { terminationGracePeriod: '1h' }),
};

export async function randomChange(kube: Kube, draw: Draw): Promise<Change> {
  const kind = draw.pick(['pool', 'pool', 'pool', 'pool', 'scale', 'scale', 'requests', 'new', 'budget'] as const);
  const deployments = (await kube.list(Kinds.Deployment, { namespace: 'default' })).items;
  if (kind === 'pool') {
    const { metadata, spec } = draw.pick((await kube.list(Kinds.NodePool)).items);
    const title = draw.pick(Object.keys(POOL_CHANGES));
    const change = POOL_CHANGES[title];
    const after = change === undefined ? spec : change(spec, draw);
    return { kind, title: `${metadata.name}: ${title}`, pool: { metadata: { name: metadata.name }, spec: after } };
  }
  const { metadata, spec } = draw.pick(deployments);
  const { name } = metadata;
  if (kind === 'budget') {
    const limit = draw.pick([{ maxUnavailable: 0 }, { maxUnavailable: 1 }, { minAvailable: 1 }]);
    const budget = {
      metadata: { name, namespace: 'default' },
      spec: { selector: { matchLabels: { app: name } }, ...limit },
    };
    return { kind, title: `budget of ${name}: ${JSON.stringify(limit)}`, budget };
  }
  const now = spec?.template.spec?.containers[0]?.resources?.requests?.['cpu'] ?? '100m';
  const [replicas, cpu] = [spec?.replicas ?? 1, draw.pick(CPU)];
  if (kind === 'new') {
    const made = deploymentOf('fresh', draw.between(1, 4), cpu);
    return { kind: 'deployment', title: `new: ${made.spec?.replicas} of ${cpu}`, deployment: made };
  }
  if (kind === 'requests') {
    return { kind: 'deployment', title: `${name}: ${now} to ${cpu}`, deployment: deploymentOf(name, replicas, cpu) };
  }
  const to = draw.pick([0, 1, replicas + 1, replicas + 3, replicas * 2]);
  return { kind: 'deployment', title: `${name}: ${replicas} to ${to}`, deployment: deploymentOf(name, to, now) };
}

/** As kubectl would. */
export async function make(kube: Kube, change: Change): Promise<void> {
  if (change.kind === 'pool') {
    const { metadata, spec } = change.pool;
    const before = await kube.get(Kinds.NodePool, { name: metadata.name });
    await kube.replace(Kinds.NodePool, { ...before, spec });
    return;
  }
  if (change.kind === 'budget') {
    await kube.create(Kinds.PodDisruptionBudget, change.budget);
    return;
  }
  const { name } = change.deployment.metadata;
  const all = (await kube.list(Kinds.Deployment, { namespace: 'default' })).items;
  const before = all.find(({ metadata }) => metadata.name === name);
  if (before === undefined) await kube.create(Kinds.Deployment, change.deployment);
  else {
    const ref = { name, namespace: 'default' };
    await kube.patch(Kinds.Deployment, ref, { type: 'merge', body: { spec: change.deployment.spec ?? {} } });
  }
}
