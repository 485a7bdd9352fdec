/** Measures time and memory of one way to call the solver. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface Measured<T> {
  readonly answer: T;
  /** Of the first run, with cold code. */
  readonly firstMillis: number;
  /** Median of the runs after warming up. */
  readonly millis: number;
  readonly leastMillis: number;
  /** The least CPU time of a run over all threads, including compilers and garbage collectors. */
  readonly cpuMillis: number;
  /** Heap and buffers that were in use right after one more run, beyond what was in use before it. */
  readonly memoryMiB: number;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/**
 * The first `warmUp` runs are reported separately, because cold code is slow. Memory is measured in a separate run: a
 * full garbage collection also discards compiled code, which would distort the times.
 */
export function measure<T>(runs: number, work: () => T, warmUp = 0): Measured<T> {
  const times: number[] = [];
  const cpu: number[] = [];
  for (let run = 0; run < runs + warmUp; run += 1) {
    const computed = process.cpuUsage();
    const started = performance.now();
    work();
    times.push(performance.now() - started);
    const { user, system } = process.cpuUsage(computed);
    cpu.push((user + system) / 1000);
  }
  collectGarbage();
  const before = inUse();
  const answer = work();
  const memoryMiB = Math.max(0, inUse() - before) / 2 ** 20;
  const [firstMillis = 0] = times;
  const warm = times.slice(warmUp);
  return {
    answer,
    firstMillis,
    millis: median(warm),
    leastMillis: Math.min(...warm),
    cpuMillis: Math.min(...cpu.slice(warmUp)),
    memoryMiB,
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function inUse(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
