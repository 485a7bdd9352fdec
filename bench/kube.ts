/**
 * Cost of watching pods: time to decode and index a list, compared to bare `JSON.parse` of the same bytes, and memory
 * for a large cluster's pods.
 */
import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Kinds, type Pod } from '../src/api/kinds.ts';
import { SystemClock } from '../src/clock/systemClock.ts';
import { systemRandom } from '../src/clock/systemRandom.ts';
import { decodeList } from '../src/kube/decodeList.ts';
import { HttpKube } from '../src/kube/httpKube.ts';
import { StoreInformer } from '../src/kube/storeInformer.ts';
import { trimFor } from '../src/kube/trim.ts';
import type { BenchTable } from './runner.ts';
import { typicalPod } from './typicalPods.ts';

const FEW = 5_000;
const ROUNDS = 9;
const RATIO_TARGET = 1.5;
const MANY = 150_000;
const RSS_TARGET = 600e6;
/** What a socket delivers at a time. */
const CHUNK = 65_536;

/** The informer is fed by hand; it never asks. */
const unusedKube = new HttpKube({
  config: { server: 'http://127.0.0.1:9', tls: { insecureSkipVerify: false }, credentials: {} },
  clock: new SystemClock(),
  random: systemRandom,
});

interface ChildReport {
  readonly pods: number;
  readonly before: number;
  readonly synced: number;
  readonly rss: number;
  readonly heapUsed: number;
  readonly peak: number;
}

/** A server that lists `count` pods in pages and never has any news. */
async function podServer(count: number): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://server').searchParams;
    response.setHeader('content-type', 'application/json');
    if (query.has('watch')) {
      response.flushHeaders();
      return;
    }
    const start = Number(query.get('continue') ?? 0);
    const end = Math.min(count, start + Number(query.get('limit') ?? count));
    const items = Array.from({ length: end - start }, (_, index) => typicalPod(start + index));
    const metadata = { resourceVersion: '1', ...(end < count ? { continue: String(end) } : {}) };
    response.end(JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata, items }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Bundled and run by plain Node, as shipped: otherwise a TypeScript loader would be measured too. */
async function measureMemory(): Promise<ChildReport> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-kube-'));
  const server = await podServer(MANY);
  try {
    const outfile = join(directory, 'child.mjs');
    await build({
      entryPoints: [join(import.meta.dirname, 'kube', 'memoryChild.ts')],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
      logLevel: 'warning',
    });
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', outfile, server.url]);
    return JSON.parse(stdout) as ChildReport;
  } finally {
    server.close();
    await rm(directory, { recursive: true });
  }
}

interface DecodeReport {
  readonly bytes: number;
  readonly parse: number;
  readonly whole: number;
  readonly ratio: number;
}

/** Alternating rounds, so that a noisy neighbour hits both sides. */
function measureDecoding(): DecodeReport {
  const items = Array.from({ length: FEW }, (_, index) => typicalPod(index));
  const bytes = Buffer.from(JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items }));
  const chunks = Array.from({ length: Math.ceil(bytes.length / CHUNK) }, (_, index) =>
    bytes.subarray(index * CHUNK, (index + 1) * CHUNK),
  );
  const parse: number[] = [];
  const whole: number[] = [];
  decodeAndIndex(chunks);
  for (let round = 0; round < ROUNDS; round++) {
    parse.push(timed(() => JSON.parse(bytes.toString()) as unknown));
    whole.push(timed(() => decodeAndIndex(chunks)));
  }
  const ratios = whole.map((time, round) => time / (parse[round] ?? time));
  return { bytes: bytes.length, parse: median(parse), whole: median(whole), ratio: median(ratios) };
}

/** What an informer does with the body of a list. */
function decodeAndIndex(chunks: readonly Buffer[]): number {
  const clock = new SystemClock();
  const informer = new StoreInformer<Pod>({
    kube: unusedKube,
    clock,
    random: systemRandom,
    kind: Kinds.Pod,
    scope: {},
    transform: trimFor(Kinds.Pod),
    onError: (error) => {
      throw error;
    },
  });
  informer.store.addIndex('node', (pod) => [pod.spec?.nodeName ?? '']);
  informer.begin();
  decodeList<Pod>(Buffer.concat(chunks), (pod) => informer.upsert(pod));
  informer.complete();
  if (informer.store.size !== FEW) throw new Error(`only ${informer.store.size} pods arrived`);
  return informer.store.size;
}

function timed(work: () => unknown): number {
  globalThis.gc?.();
  const start = performance.now();
  work();
  return performance.now() - start;
}

const median = (values: readonly number[]): number =>
  [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;

const megabytes = (bytes: number): number => Math.round(bytes / 1e6);

export const bench = {
  name: 'kube',
  description: 'decode and index a list of pods; hold a large cluster of them',
  async run(): Promise<readonly BenchTable[]> {
    const decoding = measureDecoding();
    const memory = await measureMemory();
    return [
      {
        title: `A list of ${FEW} typical pods, ${megabytes(decoding.bytes)} MB (median of ${ROUNDS} alternating rounds)`,
        columns: ['', 'measured', 'target'],
        rows: [
          ['decode, trim and index ÷ JSON.parse', decoding.ratio.toFixed(2), `≤ ${RATIO_TARGET}`],
          ['JSON.parse (ms)', Math.round(decoding.parse), ''],
          ['decode, trim and index (ms)', Math.round(decoding.whole), ''],
        ],
      },
      {
        title: `Memory of a process that follows ${memory.pods} typical pods (MB)`,
        columns: ['', 'measured', 'target'],
        rows: [
          ['RSS, holding them', megabytes(memory.rss), `≤ ${megabytes(RSS_TARGET)}`],
          ['RSS when just synced', megabytes(memory.synced), ''],
          ['RSS at its highest', megabytes(memory.peak), ''],
          ['RSS before the list', megabytes(memory.before), ''],
          ['heap in use', megabytes(memory.heapUsed), ''],
        ],
      },
    ];
  },
};
