/** Nominated nodes: the local scheduler and kube-scheduler do the same with the same pods. */
import { beforeAll, describe, expect, it } from 'vitest';
import { Kinds, type Pod } from '../../../src/api/kinds.ts';
import type { Draft, Kube } from '../../../src/kube/kube.ts';
import { eventually } from '../../controlplane/eventually.ts';
import { realScheduler, withLocalScheduler, type Until } from './schedulers.ts';

interface Story {
  /** Nodes with their cpu. */
  readonly nodes: Readonly<Record<string, string>>;
  /** Pods that run from the start: cpu and node. */
  readonly running?: Readonly<Record<string, readonly [cpu: string, node: string, priority?: string]>>;
  /** Pods that come one after another. */
  readonly pods: readonly {
    readonly name: string;
    readonly cpu: string;
    readonly nominated?: string;
    readonly priority?: string;
    /** Waits for a claim that is missing, so that it is never bound. */
    readonly claims?: boolean;
  }[];
}

const STORIES: Readonly<Record<string, Story>> = {
  'the nominated node before a better one': {
    nodes: { large: '32', small: '2' },
    pods: [{ name: 'meant', cpu: '1', nominated: 'small' }],
  },
  'another node when the nominated one is missing': {
    nodes: { one: '4' },
    pods: [{ name: 'meant', cpu: '1', nominated: 'missing' }],
  },
  'another node when the nominated one is full': {
    nodes: { full: '1', one: '4' },
    pods: [{ name: 'meant', cpu: '2', nominated: 'full' }],
  },
  'no node: the nominated one is missing and the others are too small': {
    nodes: { one: '1' },
    pods: [{ name: 'meant', cpu: '2', nominated: 'missing' }],
  },
  'no node: the nominated one is too small': {
    nodes: { one: '1' },
    pods: [{ name: 'meant', cpu: '2', nominated: 'one' }],
  },
  'no node, and no preemption is allowed': {
    nodes: { one: '1' },
    pods: [{ name: 'meant', cpu: '2', nominated: 'one', priority: 'never' }],
  },
  'no node at all': { nodes: {}, pods: [{ name: 'meant', cpu: '2', nominated: 'missing' }] },
  'room is kept from the same and from a lower priority': {
    nodes: { one: '4' },
    pods: [
      { name: 'meant', cpu: '3', nominated: 'one', priority: 'never', claims: true },
      { name: 'same', cpu: '2', priority: 'never' },
      { name: 'lower', cpu: '2' },
      { name: 'fits', cpu: '1' },
    ],
  },
  'room is not kept from a higher priority': {
    nodes: { one: '4' },
    pods: [
      { name: 'meant', cpu: '3', nominated: 'one', priority: 'never', claims: true },
      { name: 'higher', cpu: '2', priority: 'high' },
    ],
  },
  'a node is nominated where a victim leaves slowly': {
    nodes: { one: '4' },
    running: { victim: ['3', 'one'] },
    pods: [{ name: 'urgent', cpu: '3', priority: 'high' }],
  },
};

const PRIORITIES = [
  { metadata: { name: 'never' }, value: 10, preemptionPolicy: 'Never' },
  { metadata: { name: 'high' }, value: 1000 },
];

const podDraft = (name: string, cpu: string, priority: string | undefined, spec: object): Draft<Pod> => ({
  metadata: { name, namespace: 'default' },
  spec: {
    ...(priority && { priorityClassName: priority }),
    containers: [{ name: 'main', image: 'x', resources: { requests: { cpu } } }],
    ...spec,
  },
});

async function tell(kube: Kube, story: Story, until: Until): Promise<Record<string, string>> {
  for (const [name, cpu] of Object.entries(story.nodes)) {
    const resources = { cpu, memory: '8Gi', pods: '110' };
    await kube.create(Kinds.Node, {
      metadata: { name },
      status: { capacity: resources, allocatable: resources, conditions: [{ type: 'Ready', status: 'True' }] as never },
    });
    await kube.patch(Kinds.Node, { name }, { type: 'merge', body: { spec: { taints: [] } } });
  }
  for (const [name, [cpu, nodeName, priority]] of Object.entries(story.running ?? {})) {
    await kube.create(Kinds.Pod, podDraft(name, cpu, priority, { nodeName }));
  }
  const outcomes: Record<string, string> = {};
  for (const { name, cpu, nominated, priority, claims } of story.pods) {
    const ref = { name, namespace: 'default' };
    const volumes = claims && { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'missing' } }] };
    await kube.create(Kinds.Pod, podDraft(name, cpu, priority, { schedulingGates: [{ name: 'wait' }], ...volumes }));
    const status = { nominatedNodeName: nominated ?? null };
    await kube.patch(Kinds.Pod, ref, { type: 'merge', body: { status } }, { subresource: 'status' });
    const open = [{ op: 'remove', path: '/spec/schedulingGates' }];
    await kube.patch(Kinds.Pod, ref, { type: 'json', body: open as never });
    await until(`${name} is judged`, async () => {
      const pod = await kube.get(Kinds.Pod, ref);
      const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
      return pod.spec?.nodeName || (scheduled?.reason === 'Unschedulable' ? scheduled.message : undefined);
    });
  }
  for (const { name } of story.pods) {
    const { spec, status } = await kube.get(Kinds.Pod, { name, namespace: 'default' });
    const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
    outcomes[name] = `${spec?.nodeName ?? scheduled?.message}; nominated ${status?.nominatedNodeName ?? 'nowhere'}`;
  }
  return outcomes;
}

function ours(story: Story): Promise<Record<string, string>> {
  return withLocalScheduler(async (kube, until) => {
    for (const priority of PRIORITIES) await kube.create(Kinds.PriorityClass, priority as never);
    return tell(kube, story, until);
  });
}

describe('a nominated node', { timeout: 120_000 }, () => {
  const realKube = realScheduler();

  beforeAll(async () => {
    for (const priority of PRIORITIES) await realKube().create(Kinds.PriorityClass, priority as never);
  });

  it.each(Object.entries(STORIES))('%s', async (_what, story) => {
    const kube = realKube();
    const real = await tell(kube, story, async (what, ask) => {
      const answer = await eventually(what, ask, 60_000);
      // The nomination may be written after the condition.
      await new Promise((resolve) => setTimeout(resolve, 500));
      return answer;
    });
    await kube.deleteCollection(Kinds.Pod, { namespace: 'default', gracePeriodSeconds: 0 });
    await eventually('the pods are gone', async () =>
      (await kube.list(Kinds.Pod, { namespace: 'default' })).items.length === 0 ? true : undefined,
    );
    for (const name of Object.keys(story.nodes)) await kube.delete(Kinds.Node, { name });
    expect(await ours(story)).toEqual(real);
  });
});
