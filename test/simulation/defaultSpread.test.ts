import { afterEach, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';
import { Workbench } from '../fixtures/engine/workbench.ts';

let bench: Workbench;
afterEach(() => bench.close());

const ZONAL = [{ maxSkew: 1, topologyKey: Labels.zone, whenUnsatisfiable: 'DoNotSchedule' }] as const;

async function start(defaultSpread: typeof ZONAL | readonly []): Promise<void> {
  bench = await Workbench.start({
    engine: (ports) => createEngine({ ...ports, batchIdle: 1_000, batchMax: 10_000, defaultSpread }),
  });
  await bench.createPool();
}

async function zonesAsked(): Promise<readonly string[]> {
  await bench.advance(5_000);
  return (await bench.claims()).flatMap(
    ({ spec }) => spec.requirements.find(({ key }) => key === Labels.zone)?.values ?? [],
  );
}

async function deployment(spec: object = {}): Promise<void> {
  await bench.kube.create(Kinds.Deployment, {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 4,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '100m' } } }], ...spec },
      },
    },
  });
}

it('spreads the pods of a workload that says nothing about it', async () => {
  await start(ZONAL);
  await deployment();
  expect(new Set(await zonesAsked())).toEqual(new Set(['zone-1', 'zone-2']));
});

it('leaves alone pods that have a spread of their own, and pods that nothing selects', async () => {
  await start(ZONAL);
  const topologySpreadConstraints = [
    {
      maxSkew: 10,
      topologyKey: Labels.zone,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
    },
  ];
  await deployment({ topologySpreadConstraints });
  for (const name of ['a', 'b', 'c']) await bench.createPod(name);
  await bench.advance(5_000);
  expect(await bench.claims()).toHaveLength(1);
});

it('spreads bare pods that a Service selects', async () => {
  await start(ZONAL);
  await bench.kube.create(Kinds.Service, {
    metadata: { name: 's', namespace: 'default' },
    spec: { selector: { app: 'bare' }, ports: [{ port: 80 }] },
  });
  for (const name of ['a', 'b']) await bench.createPod(name, {}, { labels: { app: 'bare' } });
  expect(new Set(await zonesAsked())).toEqual(new Set(['zone-1', 'zone-2']));
});

it('does nothing unless it is configured', async () => {
  await start([]);
  await deployment();
  await bench.advance(5_000);
  expect(await bench.claims()).toHaveLength(1);
});
