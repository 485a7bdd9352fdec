/** Times and weighs one way to call the solver. In: a function. Out: its answer, milliseconds and memory. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export interface Measured<T> {
  readonly answer: T;
  /** Of the first run, with cold code. */
  readonly firstMillis: number;
  /** Median of all. */
  readonly millis: number;
  /** Heap and buffers that were in use right after the last run, beyond what was in use before it. */
  readonly memoryMiB: number;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

export function measure<T>(runs: number, work: () => T): Measured<T> {
  const times: number[] = [];
  let answer: T | undefined;
  let memoryMiB = 0;
  for (let run = 0; run < runs; run += 1) {
    collectGarbage();
    const before = inUse();
    const started = performance.now();
    answer = work();
    times.push(performance.now() - started);
    memoryMiB = Math.max(0, inUse() - before) / 2 ** 20;
  }
  const [firstMillis = 0] = times;
  const sorted = times.toSorted((left, right) => left - right);
  return { answer: answer as T, firstMillis, millis: sorted[Math.floor(sorted.length / 2)] ?? 0, memoryMiB };
}

function inUse(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
