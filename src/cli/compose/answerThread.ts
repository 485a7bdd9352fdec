/** Starts the thread that computes the dashboard's answers, with memory that the controller does not need. */
import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { StartThread } from '../../dashboard/answering/answerThread.ts';

/** Possible paths relative to the bundle, to one of its chunks, and to the sources. */
const PLACES = ['answerWorker.js', '../answerWorker.js', '../../../dist/answerWorker.js'];

const MIB = 2 ** 20;
/** Share of the process's free memory; the controller may need the rest before the thread ends. */
const SHARE = 0.5;
/** MiB; enough for thousands of nodes and a hundred thousand pods. */
const MOST = 2_048;
const LEAST = 64;

export const startAnswerThread: StartThread = (workerData, transferList) => {
  const files = PLACES.map((place) => join(import.meta.dirname, place));
  const file = files.find((each) => existsSync(each)) ?? '';
  const limit = threadMemory(process.constrainedMemory(), totalmem(), process.memoryUsage.rss());
  return new Worker(file, {
    workerData,
    transferList: [...transferList],
    resourceLimits: { maxOldGenerationSizeMb: limit },
  });
};

/** Heap limit of the thread in MiB: above it only the thread ends, and the controller continues. */
export function threadMemory(constrained: number | undefined, total: number, used: number): number {
  const limit = constrained === undefined || constrained === 0 ? total : Math.min(constrained, total);
  return Math.round(Math.min(MOST, Math.max(LEAST, ((limit - used) / MIB) * SHARE)));
}
