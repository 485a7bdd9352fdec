import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds, type Event } from '../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import { instance, Simulation } from '../../test/fixtures/local/simulation.ts';

let simulation: Simulation;

beforeEach(async () => {
  simulation = new Simulation(7, { quiet: false });
  await simulation.boot(instance('node-a', { cpu: '32', memory: '64Gi' }));
});
afterEach(() => simulation.stop());

const template = (restartPolicy?: 'Never') => ({
  metadata: { labels: { app: 'web' } },
  spec: { ...(restartPolicy && { restartPolicy }), containers: [{ name: 'main', image: 'nginx' }] },
});
const selector = { matchLabels: { app: 'web' } };
const named = (name: string) => ({ name, namespace: 'default' });

async function eventsOf(kind: ResourceKind<KubeObject>): Promise<Event[]> {
  const { items } = await simulation.kube.list(Kinds.Event);
  return items.filter(({ involvedObject }) => involvedObject.kind === kind.kind);
}

async function sayings(kind: ResourceKind<KubeObject>): Promise<string[]> {
  const all = await eventsOf(kind);
  return all.map(({ source, reason, message }) => `${source?.component} ${reason}: ${message}`).sort();
}

describe('controllers record events', () => {
  it('when a Deployment scales up and down', async () => {
    const spec = { replicas: 2, selector, template: template() };
    await simulation.kube.create(Kinds.Deployment, { metadata: named('web'), spec });
    await simulation.advance(30_000);
    const body = { spec: { replicas: 1 } };
    await simulation.kube.patch(Kinds.Deployment, named('web'), { type: 'merge', body });
    await simulation.advance(60_000);
    const [set] = (await simulation.kube.list(Kinds.ReplicaSet)).items;
    const name = set?.metadata.name;
    expect(await sayings(Kinds.Deployment)).toEqual([
      `deployment-controller ScalingReplicaSet: Scaled down replica set ${name} from 2 to 1`,
      `deployment-controller ScalingReplicaSet: Scaled up replica set ${name} from 0 to 2`,
    ]);
    const ofSet = await sayings(Kinds.ReplicaSet);
    expect(ofSet).toHaveLength(3);
    expect(ofSet[0]).toMatch(new RegExp(`^replicaset-controller SuccessfulCreate: Created pod: ${name}-\\w{5}$`));
    expect(ofSet[2]).toMatch(new RegExp(`^replicaset-controller SuccessfulDelete: Deleted pod: ${name}-\\w{5}$`));
  });

  it('for nine of many created pods each, and combined for the others up to the burst limit', async () => {
    const spec = { replicas: 60, selector, template: template() };
    await simulation.kube.create(Kinds.ReplicaSet, { metadata: named('many'), spec });
    await simulation.advance(30_000);
    const recorded = await eventsOf(Kinds.ReplicaSet);
    const combined = recorded.filter(({ message }) =>
      message?.startsWith('(combined from similar events): Created pod: '),
    );
    expect(recorded).toHaveLength(10);
    expect(combined.map(({ count }) => count)).toEqual([16]);
  });

  it('for StatefulSets, Jobs, CronJobs and nodes, with the messages of each controller', async () => {
    const sized = { replicas: 1, serviceName: 'web', selector, template: template() };
    await simulation.kube.create(Kinds.StatefulSet, { metadata: named('store'), spec: sized });
    const annotations = { 'local.nodewright.dev/run-seconds': '5' };
    const job = { template: { ...template('Never'), metadata: { annotations } } };
    await simulation.kube.create(Kinds.CronJob, {
      metadata: named('nightly'),
      spec: { schedule: '* * * * *', jobTemplate: { spec: job } },
    });
    await simulation.advance(90_000);
    expect(await sayings(Kinds.StatefulSet)).toEqual([
      'statefulset-controller SuccessfulCreate: create Pod store-0 in StatefulSet store successful',
    ]);
    const ofCron = await sayings(Kinds.CronJob);
    expect(ofCron[0]).toMatch(
      /^cronjob-controller SawCompletedJob: Saw completed job: nightly-\d+, condition: Complete$/,
    );
    expect(ofCron[1]).toMatch(/^cronjob-controller SuccessfulCreate: Created job nightly-\d+$/);
    expect(await sayings(Kinds.Job)).toContain('job-controller Completed: Job completed');
    expect(await sayings(Kinds.Node)).toEqual(
      expect.arrayContaining([
        'kubelet NodeReady: Node node-a status is now: NodeReady',
        'kubelet Starting: Starting kubelet.',
        'node-controller RegisteredNode: Node node-a event: Registered Node node-a in Controller',
      ]),
    );
  });
});
