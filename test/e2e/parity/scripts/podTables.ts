/** What `kubectl get pods` shows, state by state. */
import { get, given, post, script, TABLE, type Json, type Script } from '../script.ts';
import { pod, PODS } from './objects.ts';
import { table } from './table.ts';

/** Printed as `20d` by both servers; an age in minutes may turn between two answers. */
const ago = new Date(Date.now() - 20.5 * 86_400_000).toISOString().replace(/\.\d+Z/, 'Z');
const containerStatus = (name: string, state: Json, extra: Json = {}): Json => ({
  name,
  image: 'a',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
  ...extra,
});

const podTable = (name: string, spec: Json, status: Json): Script =>
  table(`pods: ${name}`, PODS, pod('one', {}, spec), status);

export const podTableScripts: readonly Script[] = [
  table('pods: pending', PODS, pod('one')),
  podTable(
    'running',
    { nodeName: 'n' },
    {
      phase: 'Running',
      podIP: '10.1.2.3',
      podIPs: [{ ip: '10.1.2.3' }],
      containerStatuses: [containerStatus('main', { running: { startedAt: ago } }, { ready: true })],
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  ),
  podTable(
    'crash loop',
    { nodeName: 'n' },
    {
      phase: 'Running',
      containerStatuses: [
        containerStatus(
          'main',
          { waiting: { reason: 'CrashLoopBackOff' } },
          { restartCount: 4, lastState: { terminated: { exitCode: 1, finishedAt: ago } } },
        ),
      ],
    },
  ),
  podTable(
    'ended',
    { nodeName: 'n' },
    {
      phase: 'Succeeded',
      containerStatuses: [
        containerStatus('main', { terminated: { exitCode: 0, reason: 'Completed', finishedAt: ago } }),
      ],
    },
  ),
  podTable(
    'failed with a signal',
    { nodeName: 'n' },
    {
      phase: 'Failed',
      containerStatuses: [containerStatus('main', { terminated: { exitCode: 137, signal: 9, finishedAt: ago } })],
    },
  ),
  podTable('evicted', { nodeName: 'n' }, { phase: 'Failed', reason: 'Evicted', message: 'no memory' }),
  podTable(
    'init',
    {
      nodeName: 'n',
      initContainers: [
        { name: 'a', image: 'a' },
        { name: 'b', image: 'b' },
      ],
    },
    {
      phase: 'Pending',
      initContainerStatuses: [
        containerStatus('a', { terminated: { exitCode: 0 } }),
        containerStatus('b', { running: {} }),
      ],
      containerStatuses: [containerStatus('main', { waiting: { reason: 'PodInitializing' } })],
    },
  ),
  podTable(
    'init fails',
    { nodeName: 'n', initContainers: [{ name: 'a', image: 'a' }] },
    {
      phase: 'Pending',
      initContainerStatuses: [
        containerStatus('a', { terminated: { exitCode: 3, reason: 'Error' } }, { restartCount: 1 }),
      ],
    },
  ),
  podTable(
    'nominated',
    {},
    {
      phase: 'Pending',
      nominatedNodeName: 'n',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
    },
  ),
  podTable(
    'readiness gates',
    { readinessGates: [{ conditionType: 'example.com/go' }] },
    {
      phase: 'Running',
      conditions: [
        { type: 'example.com/go', status: 'True' },
        { type: 'Ready', status: 'True' },
      ],
    },
  ),
  script(
    'table of pods: gated',
    given(post(PODS, pod('one', {}, { schedulingGates: [{ name: 'example.com/wait' }] }))),
    get(`${PODS}/one`, { accept: TABLE }),
  ),
];
