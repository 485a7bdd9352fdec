/**
 * The shipped controller. On a real control plane: from 500 pending pods to 500 bound ones, alike and of forty sizes. On
 * the local API server: CPU and memory to watch 2,000 nodes and 30,000 pods, at rest and while pods change, and its lag.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { build } from '../scripts/build.mjs';
import { renderCrds } from '../src/api/crds.ts';
import { Kinds } from '../src/api/kinds.ts';
import { Annotations } from '../src/api/labels.ts';
import { SystemClock } from '../src/clock/systemClock.ts';
import { systemRandom } from '../src/clock/systemRandom.ts';
import type { Kube } from '../src/kube/kube.ts';
import { LocalApiServer } from '../src/local/apiserver/localApiServer.ts';
import { eventually } from '../test/controlplane/eventually.ts';
import { freeLoopbackPort } from '../test/controlplane/loopbackPort.ts';
import { Program } from '../test/e2e/kwok/kwokCluster.ts';
import type { Bench, BenchTable } from './runner.ts';
import { pendingToBound } from './scale/pendingToBound.ts';
import { claimOf, nodeOf, podOf, poolOf, POOL } from './scale/population.ts';

const PENDING = 500;
/** Of forty workloads with as many pods each. */
const MIXED = 520;
const NODES = 2_000;
const PODS = 30_000;
const CHANGES_PER_SECOND = 200;
const PROBES = 12;
const SCRAPES = 4;
const WATCHED_SECONDS = 15;

const round = (value: number, digits = 1): number => Number(value.toFixed(digits));

async function populate(kube: Kube): Promise<void> {
  for (const crd of renderCrds()) await kube.create(Kinds.CustomResourceDefinition, crd);
  await kube.create(Kinds.KWOKNodeClass, { metadata: { name: 'default' } });
  await kube.create(Kinds.NodePool, poolOf());
  for (let index = 0; index < NODES; index++) {
    const { draft, status } = claimOf(index);
    const claim = await kube.create(Kinds.NodeClaim, draft);
    await kube.patch(Kinds.NodeClaim, claim.metadata, { type: 'merge', body: { status } }, { subresource: 'status' });
    const node = nodeOf(index, claim.metadata.uid ?? '');
    await kube.create(Kinds.Node, node);
    const body = { status: node.status };
    await kube.patch(
      Kinds.Node,
      { name: node.metadata.name ?? '' },
      { type: 'merge', body },
      { subresource: 'status' },
    );
  }
  for (let index = 0; index < PODS; index++) {
    const pod = podOf(index, NODES);
    await kube.create(Kinds.Pod, pod);
    const ref = { name: pod.metadata.name ?? '', namespace: 'default' };
    await kube.patch(Kinds.Pod, ref, { type: 'merge', body: { status: pod.status } }, { subresource: 'status' });
  }
}

/** Time from a change in the API server until the controller reacts: here, until it restores a hash. */
async function lag(kube: Kube): Promise<readonly number[]> {
  const waits: number[] = [];
  for (let probe = 0; probe < PROBES; probe++) {
    const body = { metadata: { annotations: { [Annotations.nodePoolHash]: 'wrong' } } };
    await kube.patch(Kinds.NodePool, { name: POOL }, { type: 'merge', body });
    const begin = performance.now();
    await eventually('the hash is right again', async () => {
      const { metadata } = await kube.get(Kinds.NodePool, { name: POOL });
      return metadata.annotations?.[Annotations.nodePoolHash] === 'wrong' ? undefined : true;
    });
    waits.push(performance.now() - begin);
    await sleep(WATCHED_SECONDS * 40);
  }
  return waits.sort((left, right) => left - right);
}

/** The best of a few: what a scrape needs, not what else the machine does. */
async function scrapeCost(program: Program): Promise<Record<'milliseconds' | 'megabytes' | 'cpuSeconds', number>> {
  const url = `http://127.0.0.1:${program.metricsPort}/metrics`;
  const takes: number[] = [];
  let bytes = 0;
  const before = await program.metric('process_cpu_seconds_total');
  for (let take = 0; take < SCRAPES; take++) {
    const since = performance.now();
    const { body } = await request(url, { reset: true });
    bytes = (await body.arrayBuffer()).byteLength;
    takes.push(performance.now() - since);
  }
  const cpu = (await program.metric('process_cpu_seconds_total')) - before;
  // The one that read the number before counts too.
  return { milliseconds: Math.min(...takes), megabytes: bytes / 1e6, cpuSeconds: cpu / (SCRAPES + 1) };
}

/** Changes pods at a steady pace until stopped. */
function churn(kube: Kube): () => Promise<void> {
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    for (let change = 0; !stop.signal.aborted; change++) {
      const ref = { name: podOf((change * 7_919) % PODS, NODES).metadata.name ?? '', namespace: 'default' };
      const body = { metadata: { annotations: { 'example.com/change': String(change) } } };
      await kube.patch(Kinds.Pod, ref, { type: 'merge', body });
      if (change % 20 === 0) await sleep((20 / CHANGES_PER_SECOND) * 1000);
    }
  };
  const running = run();
  return async () => {
    stop.abort();
    await running;
  };
}

async function following(): Promise<BenchTable> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-scale-'));
  const server = new LocalApiServer({ clock: new SystemClock(), random: systemRandom });
  let program: Program | undefined;
  try {
    await populate(server.kube);
    await server.listen();
    const kubeconfig = join(directory, 'kubeconfig');
    await server.writeKubeconfig(kubeconfig);
    const [metrics, health] = [await freeLoopbackPort(), await freeLoopbackPort()];
    const flags = ['--cloud-provider=kwok', '--leader-election-namespace=kube-system'];
    const begin = performance.now();
    const started = new Program(
      ['run', ...flags, `--metrics-port=${metrics}`, `--health-probe-port=${health}`],
      kubeconfig,
      metrics,
    );
    program = started;
    const isComplete = async (): Promise<true | undefined> =>
      (await started.answers()) && (await started.metric('karpenter_cluster_state_node_count')) === NODES
        ? true
        : undefined;
    await eventually('the picture is complete', isComplete, 180_000);
    const synced = (performance.now() - begin) / 1000;
    const syncCpu = await started.metric('process_cpu_seconds_total');
    await sleep(5_000);
    const scrape = await scrapeCost(started);
    const measure = async (what: string): Promise<(string | number)[]> => {
      const [cpu, since] = [await started.metric('process_cpu_seconds_total'), performance.now()];
      await sleep(WATCHED_SECONDS * 1000);
      // The scrape that begins the measurement is still in it.
      const used = (await started.metric('process_cpu_seconds_total')) - cpu - scrape.cpuSeconds;
      const share = used / ((performance.now() - since) / 1000);
      // Afterwards, for each probe changes a pool, and thereby makes work for all of its claims.
      const waits = await lag(server.kube);
      const memory = await started.metric('process_resident_memory_bytes');
      return [
        what,
        round(share * 100),
        round(memory / 2 ** 20, 0),
        round(waits[6] ?? 0, 0),
        round(waits.at(-1) ?? 0, 0),
      ];
    };
    const rest = await measure('at rest');
    const stopChurn = churn(server.kube);
    const busy = await measure(`${CHANGES_PER_SECOND} pod changes/s`);
    await stopChurn();
    return {
      title: `${NODES} nodes and ${PODS} pods through the informers`,
      columns: ['', 'cpu % of a core', 'memory MiB', 'lag ms median', 'lag ms worst'],
      rows: [rest, busy],
      notes: [
        `complete after ${round(synced)} s and ${round(syncCpu)} cpu s`,
        `one scrape: ${round(scrape.megabytes)} MB in ${round(scrape.milliseconds, 0)} ms, ${round(scrape.cpuSeconds, 2)} cpu s`,
        'lag: from a change in the API server until the controller has answered it with a write',
      ],
    };
  } finally {
    await program?.end();
    await server.close();
    await rm(directory, { recursive: true });
  }
}

export const bench: Bench = {
  name: 'scale',
  description: '500 pending pods on a real control plane; 2,000 nodes and 30,000 pods through the informers',
  async run(flags) {
    await build();
    if (flags.includes('--local')) return [await following()];
    const bound = [await pendingToBound('alike', PENDING), await pendingToBound('mixed', MIXED)];
    return flags.includes('--pending') ? bound : [...bound, await following()];
  },
};
