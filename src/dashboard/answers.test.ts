import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { paperShop } from '../../test/fixtures/dashboard/paperShop.ts';
import { PaperSource } from '../../test/fixtures/dashboard/paperSource.ts';
import { startThread } from '../../test/fixtures/dashboard/startThread.ts';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { paperCloud } from '../../test/fixtures/disruption/paperObjects.ts';
import { paperPod, UNSCHEDULABLE } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { eventually } from '../../test/controlplane/eventually.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import type { CloudProvider } from '../cloud/cloudProvider.ts';
import { explainNodeIn } from '../rehearsal/explainNodeIn.ts';
import { explainPodIn } from '../rehearsal/explainPodIn.ts';
import { rehearse } from '../rehearsal/rehearse.ts';
import { Answers, Busy } from './answers.ts';
import { ClusterSender } from './answering/clusterSender.ts';
import { Unanswered, type StartThread } from './answering/answerThread.ts';
import type { ToThread } from './answering/protocol.ts';
import type { RehearsalSource } from './picture.ts';

let answers: Answers;
afterEach(() => answers.stop());

const paperShopWith = (cloud: Partial<CloudProvider>, types = [testType('t4', 4, 16, 0.19)]): PaperSource => {
  const paper = new PaperCluster();
  paper.addPool(types);
  paper.cluster.setPod({ ...paperPod('waits', { cpu: '1' }), status: UNSCHEDULABLE });
  const sold = paperCloud(types);
  const { name, nodeClasses, repairPolicies } = sold;
  return new PaperSource(paper, {
    name,
    nodeClasses,
    repairPolicies,
    create: (...asked) => sold.create(...asked),
    delete: (...asked) => sold.delete(...asked),
    get: (...asked) => sold.get(...asked),
    list: (...asked) => sold.list(...asked),
    instanceTypes: (...asked) => sold.instanceTypes(...asked),
    driftReason: (...asked) => sold.driftReason(...asked),
    ...cloud,
  });
};

describe('answers of the thread', () => {
  const source = paperShop();
  beforeEach(() => {
    answers = new Answers(source, startThread);
  });

  it('equal those of the controller itself', async () => {
    const { objects, cloud, kube } = source.rehearsal();
    const rehearsal = await rehearse({ objects, cloud });
    const pod = await explainPodIn(rehearsal, { namespace: 'default', name: 'stranger' }, kube);
    expect(await answers.pod('default', 'stranger')).toMatchObject({
      sentence: pod?.sentence,
      constraint: pod?.constraint,
      fixes: pod?.fixes.map(({ sentence }) => ({ sentence })),
    });
    for (const name of ['node-a', 'node-b', 'node-c']) {
      const node = await explainNodeIn(rehearsal, { kind: 'nodeclaim', name }, { cloud }, kube);
      expect(await answers.node(name)).toMatchObject({
        explanation: { sentence: node?.sentence },
        offerings: node?.node?.offerings,
        today: node?.node?.today?.nodes,
      });
    }
    expect(await answers.pod('default', 'never')).toBeUndefined();
    expect(await answers.node('never')).toBeUndefined();
    const [{ manifest } = { manifest: '' }] = answers.pools(0, false).pools;
    expect((await answers.whatIf(manifest)).problems.join()).toContain('is not a node class of Azure');
    // The same error as from `rehearseChange` in this thread, and the thread goes on after it.
    const changed = manifest.replaceAll('karpenter.kwok.sh', 'karpenter.azure.com').replaceAll('KWOK', 'AKS');
    await expect(answers.whatIf(changed)).rejects.toThrow('AKSNodeClass default: does not exist');
  });

  it('are computed one at a time, and too many are refused', async () => {
    const asked = Array.from({ length: 20 }, () => answers.node('node-b'));
    const settled = await Promise.allSettled(asked);
    const refused = settled.filter((each) => each.status === 'rejected');
    expect(refused).toHaveLength(4);
    expect(refused.every(({ reason }) => reason instanceof Busy)).toBe(true);
  });
});

describe('the thread', () => {
  it('asks the controller for quotas in the middle of its work', async () => {
    const type = testType('t4', 4, 16, 0.19);
    const types = [
      {
        ...type,
        offerings: type.offerings.map((each) => ({ ...each, quotaNeed: { names: ['cores'], amount: 4 } })),
      },
    ];
    const asked: (readonly NodeClaim[])[] = [];
    const source = paperShopWith(
      {
        quotas: (unlaunched) => {
          asked.push(unlaunched);
          return new Map([['cores', { limit: 10, used: 10 }]]);
        },
      },
      types,
    );
    answers = new Answers(source, startThread);
    const answer = await answers.pod('default', 'waits');
    expect(asked.length).toBeGreaterThan(0);
    const { objects, cloud, kube } = source.rehearsal();
    const here = await explainPodIn(await rehearse({ objects, cloud }), { namespace: 'default', name: 'waits' }, kube);
    expect(answer?.sentence).toBe(here?.sentence);
    expect(answer?.sentence).toContain('quota');
  });

  it('says what the cloud answered when types cannot be listed', async () => {
    const refusing = async (): Promise<never> => {
      throw new Error('Azure says no');
    };
    answers = new Answers(paperShopWith({ instanceTypes: refusing }), startThread);
    expect(await answers.pod('default', 'waits')).toMatchObject({ constraint: 'no-pools' });
  });

  it('does not harm the controller when it runs out of memory, and starts again after a rest', async () => {
    let limit: number | undefined = 24;
    const starting: StartThread = (workerData, transferList) =>
      limit === undefined
        ? startThread(workerData, transferList)
        : new Worker('const all = []; for (;;) all.push(new Array(1000).fill({}));', {
            eval: true,
            workerData,
            transferList: [...transferList],
            resourceLimits: { maxOldGenerationSizeMb: limit },
          });
    answers = new Answers(paperShop(), starting, { rest: 300 });
    const problem = 'it takes more memory than there is here; `nodewright explain` and `nodewright plan` work it out';
    await expect(answers.node('node-b')).rejects.toThrow(problem);
    await expect(answers.node('node-b')).rejects.toThrow(problem);
    limit = undefined;
    const answer = await eventually('the rest is over', async () => answers.node('node-b').catch(() => undefined));
    expect(answer.explanation.sentence).toContain('nothing keeps it');
  });

  it('is given up when an answer takes too long, and the next question starts another one', async () => {
    let starts = 0;
    const starting: StartThread = (workerData, transferList) => {
      starts += 1;
      return starts > 1
        ? startThread(workerData, transferList)
        : new Worker('for (;;);', { eval: true, workerData, transferList: [...transferList] });
    };
    answers = new Answers(paperShop(), starting, { patience: 4_000 });
    await expect(answers.node('node-b')).rejects.toThrow(Unanswered);
    answers = new Answers(paperShop(), starting);
    expect((await answers.node('node-b'))?.explanation.sentence).toContain('nothing keeps it');
    expect(starts).toBe(2);
  });

  it('ends when nothing was asked for a while, and with the dashboard', async () => {
    const threads: Worker[] = [];
    const starting: StartThread = (workerData, transferList) => {
      const thread = startThread(workerData, transferList);
      threads.push(thread);
      return thread;
    };
    const isGone = (at: number) => async () => (threads[at]?.threadId === -1 ? true : undefined);
    answers = new Answers(paperShop(), starting, { idle: 50 });
    await answers.node('node-b');
    await eventually('the idle thread ends', isGone(0));
    await answers.node('node-b');
    await answers.stop();
    await eventually('the thread ends with the dashboard', isGone(1));
    expect(threads).toHaveLength(2);
  });
});

describe('what is sent to the thread', () => {
  it('consists only of new objects', async () => {
    const source = paperShop();
    answers = new Answers(source, startThread);
    let messages: ToThread[] = [];
    const sender = new ClusterSender((message) => messages.push(message));
    const send = async (shown: RehearsalSource): Promise<readonly string[]> => {
      messages = [];
      await sender.send(shown, []);
      return messages.flatMap((each) =>
        each.type === 'objects' ? each.objects.map(({ metadata: { name } }) => name) : [],
      );
    };
    expect(await send(source.rehearsal())).toEqual(
      expect.arrayContaining(['node-a', 'node-b', 'node-c', 'web-1', 'stranger', 'default']),
    );
    expect(await send(source.rehearsal())).toEqual([]);
    source.paper.addNode({ name: 'node-d', type: 't2' });
    expect(await send(source.rehearsal())).toEqual(['node-d', 'node-d']);
    const last = messages.at(-1);
    const nodes = last?.type === 'cluster' ? last.cluster.kinds.find(([kind]) => kind === 'nodes')?.[1] : undefined;
    expect(nodes?.length).toBe(4);
  });
});
