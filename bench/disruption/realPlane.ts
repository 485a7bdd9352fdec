import { setTimeout as sleep } from 'node:timers/promises';
import { build } from '../../scripts/build.mjs';
import { SystemClock } from '../../src/clock/systemClock.ts';
import { systemRandom } from '../../src/clock/systemRandom.ts';
import { KwokCluster, type Program } from '../../test/e2e/kwok/kwokCluster.ts';
import type { Plane } from './plane.ts';

/**
 * The program as it ships beside a real API server, scheduler and controller manager; nodes are instant. With a peer,
 * Karpenter's program at this path in its place.
 */
export async function realPlane(peer?: string): Promise<Plane> {
  await build();
  const cluster = await KwokCluster.start();
  let program: Program | undefined;
  return {
    kube: cluster.kube,
    clock: new SystemClock(),
    random: systemRandom,
    run: async () => {
      program = await (peer === undefined ? cluster.run() : cluster.runPeer(peer));
    },
    until: async (condition, within) => {
      const end = performance.now() + within;
      while (!condition()) {
        if (performance.now() > end) return false;
        await sleep(250);
      }
      return true;
    },
    cpuSeconds: async () => (await program?.metric('process_cpu_seconds_total')) ?? 0,
    logged: (part) => program?.logged(part) ?? [],
    stop: () => cluster.stop(),
  };
}
