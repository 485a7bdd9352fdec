/**
 * The local world under load: how long a day of a cluster of 100 nodes takes, and what the scheduler costs in a cluster
 * of 5,000 nodes and 50,000 pods.
 */
import { Kinds } from '../src/api/kinds.ts';
import { instance, Simulation } from '../test/fixtures/local/simulation.ts';
import type { Bench, BenchTable } from './runner.ts';

const HOUR = 3_600_000;
const ZONES = ['eastus-1', 'eastus-2', 'eastus-3'];

const seconds = (since: number): number => Math.round((performance.now() - since) / 10) / 100;

async function deployment(
  simulation: Simulation,
  name: string,
  replicas: number,
  annotations = {},
  spec = {},
): Promise<void> {
  const labels = { app: name };
  const containers = [{ name: 'main', image: 'nginx', resources: { requests: { cpu: '350m', memory: '1Gi' } } }];
  await simulation.create(Kinds.Deployment, {
    metadata: { name, namespace: 'default', annotations },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers, ...spec } },
    },
  });
}

async function aDay(): Promise<BenchTable> {
  const begin = performance.now();
  const simulation = new Simulation(1);
  await simulation.boot(
    ...Array.from({ length: 100 }, (_, index) => instance(`node-${index}`, { cpu: '8', zone: ZONES[index % 3] ?? '' })),
  );
  for (let index = 0; index < 10; index++) {
    const load = `daily(low=4, high=40, peak=${8 + index}:00)`;
    await deployment(simulation, `web-${index}`, 20, { 'local.nodewright.dev/load': load });
    await simulation.create(Kinds.HorizontalPodAutoscaler, {
      metadata: { name: `web-${index}`, namespace: 'default' },
      spec: {
        minReplicas: 10,
        maxReplicas: 200,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: `web-${index}` },
      },
    });
  }
  await simulation.create(Kinds.CronJob, {
    metadata: { name: 'tick', namespace: 'default' },
    spec: {
      schedule: '*/10 * * * *',
      jobTemplate: {
        spec: {
          completions: 8,
          parallelism: 4,
          template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'worker' }] } },
        },
      },
    },
  });
  await simulation.advance(24 * HOUR);
  const pods = (await simulation.pods()).length;
  await simulation.stop();
  return { title: 'A day of 100 nodes', columns: ['pods at the end', 'seconds'], rows: [[pods, seconds(begin)]] };
}

async function large(): Promise<BenchTable> {
  const rows: (string | number)[][] = [];
  const simulation = new Simulation(1, { pace: { boot: 100, ready: 100 } });
  const measure = async (what: string, work: () => Promise<void>): Promise<void> => {
    const begin = performance.now();
    await work();
    rows.push([what, seconds(begin)]);
  };
  const placed = async (count: number): Promise<void> =>
    simulation.until(
      async () => (await simulation.kube.list(Kinds.Pod)).items.filter(({ spec }) => spec?.nodeName).length >= count,
      3_600_000,
    );
  await measure('5,000 nodes join', () =>
    simulation.boot(
      ...Array.from({ length: 5_000 }, (_, index) => instance(`node-${index}`, { zone: ZONES[index % 3] ?? '' })),
    ),
  );
  await measure('50,000 pods are placed', async () => {
    for (let index = 0; index < 50; index++) await deployment(simulation, `web-${index}`, 1_000);
    await placed(50_000);
  });
  await measure('one more pod', async () => {
    await deployment(simulation, 'one', 1);
    await placed(50_001);
  });
  await measure('1,000 pods spread over zones', async () => {
    const labelSelector = { matchLabels: { app: 'spread' } };
    const topologyKey = 'topology.kubernetes.io/zone';
    const topologySpreadConstraints = [{ maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule', labelSelector }];
    await deployment(simulation, 'spread', 1_000, {}, { topologySpreadConstraints });
    await placed(51_001);
  });
  await measure('10,000 pods that fit nowhere', async () => {
    await deployment(simulation, 'nowhere', 10_000, {}, { nodeSelector: { nowhere: 'true' } });
    await simulation.advance(20_000);
  });
  await simulation.stop();
  return { title: '5,000 nodes, 50,000 pods', columns: ['what', 'seconds'], rows };
}

export const bench: Bench = {
  name: 'world',
  description: 'a day of 100 nodes under the virtual clock; the scheduler at 5,000 nodes and 50,000 pods',
  run: async (flags) => (flags.includes('--day') ? [await aDay()] : [await aDay(), await large()]),
};
