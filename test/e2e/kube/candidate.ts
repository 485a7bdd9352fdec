/**
 * A candidate process for leader election; the leader hand-over test starts several with argv `kubeconfig identity
 * lease-ms deadline-ms retry-ms`. It prints one line per event; SIGTERM asks it to stop.
 */
import { SystemClock } from '../../../src/clock/systemClock.ts';
import { systemRandom } from '../../../src/clock/systemRandom.ts';
import { HttpKube } from '../../../src/kube/httpKube.ts';
import { loadKubeconfig } from '../../../src/kube/kubeconfig.ts';
import { LeaderElector, LeadershipLostError } from '../../../src/kube/leaderElection.ts';
import { silentLog } from '../../../src/kube/log.ts';

const [path = '', identity = '', leaseDuration, renewDeadline, retryPeriod] = process.argv.slice(2);
const clock = new SystemClock();
const kube = new HttpKube({ config: await loadKubeconfig({ path }), clock, random: systemRandom });
const elector = new LeaderElector({
  kube,
  clock,
  random: systemRandom,
  log: silentLog,
  namespace: 'kube-system',
  identity,
  leaseDuration: Number(leaseDuration),
  renewDeadline: Number(renewDeadline),
  retryPeriod: Number(retryPeriod),
});
const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());
const say = (word: string): void => {
  process.stdout.write(`${word}\n`);
};

say('started');
try {
  await elector.run(stopping.signal, (leading) => {
    say('leading');
    return new Promise((resolve) => {
      leading.addEventListener('abort', () => {
        say('stopping');
        resolve();
      });
    });
  });
  say('ended');
} catch (error) {
  if (!(error instanceof LeadershipLostError)) throw error;
  say('lost');
}
await kube.close();
