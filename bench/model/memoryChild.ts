/** Prints what the model of a busy cluster adds to the heap, as one line of JSON; run with `--expose-gc`. */
import { BusyCluster } from './busyCluster.ts';

const inUse = (): number => {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const busy = new BusyCluster(Number(process.argv[2]));
busy.cluster.snapshot();
const before = inUse();
for (let pass = 0; pass < 20; pass++) {
  busy.change();
  busy.plan();
}
const model = busy.model();
for (let at = 0; at < 200; at++) busy.without(model, at);
process.stdout.write(`${JSON.stringify({ bytes: inUse() - before, columns: model.table.size })}\n`);
