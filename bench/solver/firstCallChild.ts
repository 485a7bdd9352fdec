/**
 * One question in a process that has answered none before. In: arguments that name a case of the speed table. Out: one
 * line of JSON on stdout with the time that the first answer took.
 */
import { solve } from '../../src/solver/solve.ts';
import { preferencePods, upstreamPods } from '../workloads.ts';
import { problemOf, upstreamOffer } from './offer.ts';

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
