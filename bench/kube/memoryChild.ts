/**
 * The measured process of the memory bench: prints its memory as one line of JSON once an informer holds all pods of
 * the server whose address it was given.
 */
import { Kinds } from '../../src/api/kinds.ts';
import { SystemClock } from '../../src/clock/systemClock.ts';
import { systemRandom } from '../../src/clock/systemRandom.ts';
import { HttpKube } from '../../src/kube/httpKube.ts';
import { Informers } from '../../src/kube/informer.ts';

const clock = new SystemClock();
const kube = new HttpKube({
  config: { server: process.argv[2] ?? '', tls: { insecureSkipVerify: false }, credentials: {} },
  clock,
  random: systemRandom,
});
const informers = new Informers({ kube, clock, random: systemRandom });
const pods = informers.of(Kinds.Pod, { indexes: { node: (pod) => [pod.spec?.nodeName ?? ''] } });
const before = process.memoryUsage().rss;
const stop = new AbortController();
const running = informers.run(stop.signal);
await informers.synced();
const synced = process.memoryUsage().rss;
for (let round = 0; round < 3; round++) {
  globalThis.gc?.();
  await clock.sleep(100);
}
const { rss, heapUsed } = process.memoryUsage();
const peak = process.resourceUsage().maxRSS * 1024;
process.stdout.write(`${JSON.stringify({ pods: pods.store.size, before, synced, rss, heapUsed, peak })}\n`);
stop.abort();
await running;
await kube.close();
