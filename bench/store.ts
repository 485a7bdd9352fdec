/** Throughput of the local API server: writes per second through all its rules, and the memory of a large cluster. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kinds, type Node, type Pod } from '../src/api/kinds.ts';
import type { Draft } from '../src/kube/kube.ts';
import { SystemClock } from '../src/clock/systemClock.ts';
import { systemRandom } from '../src/clock/systemRandom.ts';
import { LocalApiServer } from '../src/local/apiserver/localApiServer.ts';
import type { Bench, BenchTable } from './runner.ts';

const NODES = 5_000;
const PODS = 50_000;
const UPDATES = 50_000;
const WRITES_TARGET = 10_000;

function node(index: number): Draft<Node> {
  const name = `aks-nodewright-${String(index).padStart(5, '0')}`;
  return {
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'topology.kubernetes.io/zone': `eastus-${(index % 3) + 1}`,
        'node.kubernetes.io/instance-type': 'Standard_D4s_v5',
      },
    },
    spec: { providerID: `azure:///subscriptions/s/resourceGroups/g/${name}` },
    status: { capacity: { cpu: '4', memory: '16Gi', pods: '110' }, conditions: [] },
  } as unknown as Draft<Node>;
}

function pod(index: number): Draft<Pod> {
  const app = `app-${index % 2_000}`;
  return {
    metadata: { name: `${app}-${String(index).padStart(5, '0')}`, namespace: 'default', labels: { app } },
    spec: {
      containers: [
        {
          name: 'main',
          image: 'registry.example.com/app:1',
          ports: [{ containerPort: 8080 }],
          resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
          env: [{ name: 'A', value: 'b' }],
        },
      ],
    },
  } as unknown as Draft<Pod>;
}

const ready = {
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    podIP: '10.1.2.3',
  },
};

/** The machine is shared, so CPU time of this process is measured, not elapsed time. */
interface Measured {
  readonly rate: number;
  readonly seconds: number;
}

async function measure(count: number, write: (index: number) => unknown): Promise<Measured> {
  const began = process.cpuUsage();
  for (let index = 0; index < count; index++) await write(index);
  const { user, system } = process.cpuUsage(began);
  const seconds = (user + system) / 1e6;
  return { rate: count / seconds, seconds };
}

async function fill(server: LocalApiServer, title: string, stateFile?: string): Promise<BenchTable> {
  const { kube } = server;
  const nodes = await measure(NODES, (index) => kube.create(Kinds.Node, node(index)));
  const pods = await measure(PODS, (index) => kube.create(Kinds.Pod, pod(index)));
  const bound = await measure(PODS, (index) => {
    const { name = '' } = pod(index).metadata;
    return kube.bind({ name, namespace: 'default' }, node(index % NODES).metadata.name ?? '');
  });
  const updated = await measure(UPDATES, (index) => {
    const { name = '' } = pod(index).metadata;
    const reference = { name, namespace: 'default' };
    return kube.patch(Kinds.Pod, reference, { type: 'merge', body: ready }, { subresource: 'status' });
  });
  const replaced = await measure(NODES, async (index) => {
    const live = await kube.get(Kinds.Node, { name: node(index).metadata.name ?? '' });
    return await kube.replace(Kinds.Node, { ...live, spec: { ...live.spec, unschedulable: true } });
  });
  const rss = process.memoryUsage().rss;
  const row = (name: string, { rate, seconds }: Measured): (string | number)[] => [
    name,
    Math.round(rate),
    seconds.toFixed(2),
    (rate / WRITES_TARGET).toFixed(2),
  ];
  const writes = NODES + PODS + PODS + UPDATES + NODES;
  const seconds = [nodes, pods, bound, updated, replaced].reduce((sum, one) => sum + one.seconds, 0);
  return {
    title,
    columns: ['write', 'per CPU second', 'CPU seconds', `against ${WRITES_TARGET}/s`],
    rows: [
      row('create node', nodes),
      row('create pod', pods),
      row('bind pod', bound),
      row('patch pod status', updated),
      row('replace node', replaced),
      row('all together', { rate: writes / seconds, seconds }),
    ],
    notes: [
      `${NODES} nodes and ${PODS} pods held: ${Math.round(rss / 1e6)} MB resident`,
      ...(stateFile === undefined ? [] : [`state file: ${Math.round(statSync(stateFile).size / 1e6)} MB`]),
    ],
  };
}

export const bench: Bench = {
  name: 'store',
  description: 'writes per second into the local API server, and the memory of 5,000 nodes with 50,000 pods',
  async run(flags) {
    const random = systemRandom;
    const memory = new LocalApiServer({ clock: new SystemClock(), random });
    const tables = [await fill(memory, 'local API server, in memory')];
    await memory.close();
    if (!flags.includes('--state')) return tables;
    const folder = mkdtempSync(join(tmpdir(), 'nodewright-bench-'));
    const stateFile = join(folder, 'cluster.jsonl');
    try {
      const kept = new LocalApiServer({ clock: new SystemClock(), random, stateFile });
      tables.push(await fill(kept, 'local API server, with a state file', stateFile));
      await kept.close();
      const began = performance.now();
      const resumed = new LocalApiServer({ clock: new SystemClock(), random, stateFile });
      const seconds = ((performance.now() - began) / 1000).toFixed(2);
      tables.push({ title: 'resume', columns: ['what', 'seconds'], rows: [['read the state file', seconds]] });
      await resumed.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    return tables;
  },
};
