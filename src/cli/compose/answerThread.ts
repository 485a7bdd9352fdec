/** Starts the thread that works out the dashboard's answers, with as much memory as the controller can do without. */
import { existsSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { StartThread } from '../../dashboard/answering/answerThread.ts';

/** From the bundle, from one of its chunks, and from the sources. */
const PLACES = ['answerWorker.js', '../answerWorker.js', '../../../dist/answerWorker.js'];

const MIB = 2 ** 20;
/** Of the memory that the process has left. The controller may need the rest before the thread ends. */
const SHARE = 0.5;
/** Enough for thousands of nodes and a hundred thousand pods. */
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

/** MiB of the thread's heap: a thread that needs more ends by itself, and the controller goes on. */
export function threadMemory(constrained: number | undefined, total: number, used: number): number {
  const limit = constrained === undefined || constrained === 0 ? total : Math.min(constrained, total);
  return Math.round(Math.min(MOST, Math.max(LEAST, ((limit - used) / MIB) * SHARE)));
}
