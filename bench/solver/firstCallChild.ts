/**
 * Solves one case of the speed table in a fresh process, set up as `nodewright plan` is, and prints the time of that first
 * answer as one line of JSON.
 */
import { expectShortRun } from '../../src/cli/shortRun.ts';
import { solve } from '../../src/solver/solve.ts';
import { preferencePods, upstreamPods } from '../workloads.ts';
import { problemOf, upstreamOffer } from './offer.ts';

expectShortRun();
const [kind, count = '', policy] = process.argv.slice(2);
const pods = kind === 'diverse' ? upstreamPods(Number(count)) : preferencePods(Number(count));
const problem = problemOf(pods, upstreamOffer());
const computed = process.cpuUsage();
const started = performance.now();
const { plannedNodes } = solve(problem, {
  searchRounds: 0,
  preferencePolicy: policy === 'Ignore' ? 'Ignore' : 'Respect',
});
const millis = performance.now() - started;
const { user, system } = process.cpuUsage(computed);
process.stdout.write(`${JSON.stringify({ millis, cpuMillis: (user + system) / 1000, nodes: plannedNodes.length })}\n`);
