/**
 * A day in an AKS with many faults, small enough to be simulated in a test: workloads are created, grow, shrink and are
 * blocked.
 */
import { Kinds } from '../../src/api/kinds.ts';
import { Annotations, Labels } from '../../src/api/labels.ts';
import { SeededRandom } from '../../src/clock/seededRandom.ts';
import { VirtualAks } from '../fixtures/engine/virtualAks.ts';
import { drawFrom } from '../fixtures/explain/randomGround.ts';
import type { Draw } from '../fixtures/explain/troubles.ts';

const HOUR = 3_600_000;

interface App {
  readonly name: string;
  readonly cpu: string;
  readonly spec: object;
  readonly annotations?: Record<string, string>;
}

const APPS: readonly App[] = [
  { name: 'web', cpu: '500m', spec: {} },
  { name: 'api', cpu: '1', spec: {}, annotations: { [Annotations.doNotDisrupt]: 'true' } },
  { name: 'spot', cpu: '750m', spec: { nodeSelector: { [Labels.capacityType]: 'spot' } } },
  { name: 'lost', cpu: '250m', spec: { nodeSelector: { 'example.com/team': 'red' } } },
  {
    name: 'zonal',
    cpu: '500m',
    spec: {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: Labels.zone,
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { app: 'zonal' } },
        },
      ],
    },
  },
];

/** Calls `begin` when the first workloads are there, and `atHour` after every hour of the day. */
export async function liveStormyDay(
  seed: string,
  hours: number,
  begin: (aks: VirtualAks) => Promise<void>,
  atHour: (hour: number) => void,
): Promise<void> {
  const aks = await VirtualAks.start({ seed, profile: 'stormy' });
  try {
    const draw = drawFrom(new SeededRandom(`day of ${seed}`));
    await allowSpot(aks);
    for (const app of APPS) await deploy(aks, app);
    await begin(aks);
    for (let hour = 1; hour <= hours; hour++) {
      await aks.advance(HOUR);
      atHour(hour);
      await scaleOne(aks, draw);
    }
  } finally {
    await aks.stop();
  }
}

async function allowSpot({ kube }: VirtualAks): Promise<void> {
  const { spec } = await kube.get(Kinds.NodePool, { name: 'default' });
  const requirements = spec.template.spec.requirements.map((each) =>
    each.key === Labels.capacityType ? { ...each, values: ['on-demand', 'spot'] } : each,
  );
  const body = { spec: { template: { spec: { requirements } } } };
  await kube.patch(Kinds.NodePool, { name: 'default' }, { type: 'merge', body });
}

async function deploy({ kube }: VirtualAks, { name, cpu, spec, annotations = {} }: App): Promise<void> {
  const labels = { app: name };
  const containers = [{ name: 'main', image: 'app', resources: { requests: { cpu, memory: '512Mi' } } }];
  await kube.create(Kinds.Deployment, {
    metadata: { name, namespace: 'default' },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec: { containers, ...spec } },
    },
  });
  await kube.create(Kinds.PodDisruptionBudget, {
    metadata: { name, namespace: 'default' },
    spec: { selector: { matchLabels: labels }, maxUnavailable: 1 },
  });
}

async function scaleOne({ kube }: VirtualAks, draw: Draw): Promise<void> {
  const { name } = draw.pick(APPS);
  const body = { spec: { replicas: draw.between(1, 6) } };
  await kube.patch(Kinds.Deployment, { name, namespace: 'default' }, { type: 'merge', body });
}
