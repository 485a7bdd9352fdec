import { afterEach, describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { ProvingGround } from '../fixtures/explain/provingGround.ts';
import { poolSpec } from '../fixtures/engine/workbench.ts';
import { proveCluster } from './proof.ts';

const MINUTE = 60_000;

describe('fixes that need more than one thought', { timeout: 600_000 }, () => {
  let ground: ProvingGround | undefined;
  afterEach(async () => {
    await ground?.stop();
    ground = undefined;
  });

  it.each([
    ['a StatefulSet whose next pods take the room; limits behind too few types', 'proof-88'],
    ['a StatefulSet that starts beside a static pool', 'proof-123'],
    ['a rollout that buys a node for each pod as it comes', 'proof-167'],
    ['a rollout whose old pods keep away from the new ones', 'proof-178'],
    ['savings that the controller does not expect to last', 'other-14'],
    ['a budget of pods that have just been bound', 'other-58'],
    ['a rollout that fills the room of nodes first, and limits that end half-way through it', 'other-78'],
    ['a static pool whose next node is needed in one zone', 'other-127'],
    ['a disk in a zone that nothing is sold in', 'fresh-97'],
    ['nodes of a static pool that others wait for as well', 'later-5'],
    ['a budget that lets only some pods of a node go, none of which finds another place', 'sixteen-27'],
    ['pods that move on as soon as others have left their node', 'sixteen-41'],
    ['a pool whose class is not ready, and whose limits have room for one of two pods', 'winter-62'],
    ['a budget of pods whose nodes leave together', 'winter-183'],
    ['a pod of a DaemonSet whose node has no room for it', 'winter-171'],
    ['pods that an earlier change has made leave already', 'spring-121'],
    ['two budgets of one pod, of which one has two limits', 'autumn-267'],
    ['gates and a template of several pods that are made anew', 'autumn-29'],
    ['a rollout whose first node is filled by other pods', 'spring-34'],
    ['gates of one pod, and limits', 'autumn-76'],
    ['a node with pods of both templates of a rollout', 'quarry-80'],
    ['a rollout to another scheduler, which buys a node for each pod as it comes', 'autumn-79'],
    ['a static pool that can buy nothing, and no other pool', 'night-18'],
    ['a static pool whose nodes lack a label, and no other pool', 'night-68'],
  ])('hold for %s', async (_, seed) => {
    const verdicts = await proveCluster(seed);
    expect(verdicts.length).toBeGreaterThan(0);
    expect(verdicts.filter(({ outcome }) => outcome !== 'flipped' && outcome !== 'waits')).toEqual([]);
  });

  it('make a claim again whose volume is lost', async () => {
    ground = await ProvingGround.start('lost claim');
    const { kube } = ground;
    await kube.create(Kinds.NodePool, { metadata: { name: 'default' }, spec: poolSpec() });
    await kube.create(Kinds.PersistentVolumeClaim, {
      metadata: { name: 'data', namespace: 'default' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        storageClassName: 'managed-csi',
        volumeName: 'gone',
      },
    });
    await kube.patch(
      Kinds.PersistentVolumeClaim,
      { name: 'data', namespace: 'default' },
      { type: 'merge', body: { status: { phase: 'Lost' } } },
      { subresource: 'status' },
    );
    const labels = { app: 'db' };
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
    const containers = [{ name: 'main', image: 'db', resources: { requests: { cpu: '500m' } } }];
    await kube.create(Kinds.Deployment, {
      metadata: { name: 'db', namespace: 'default' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers, volumes } } },
    });
    await ground.advance(2 * MINUTE);
    const [pod] = await ground.pods();
    const { constraint, sentence, fixes } = await ground.explain({
      kind: 'pod',
      name: pod?.metadata.name ?? '',
      namespace: 'default',
    });
    expect({ constraint, sentence }).toEqual({
      constraint: 'volume-claim',
      sentence: 'PersistentVolumeClaim "data" has lost its volume',
    });
    const [fix] = fixes;
    expect(fix?.sentence).toBe('delete PersistentVolumeClaim data and create it again, with a new and empty volume');
    if (fix) await ground.apply(fix);
    await ground.advance(10 * MINUTE);
    expect((await ground.pods()).map(({ status }) => status?.phase)).toEqual(['Running']);
  });

  it('raise a limit for several pods that stand on two nodes, and say each change once', async () => {
    ground = await ProvingGround.start('limits of several');
    const { kube } = ground;
    const own = { ...poolSpec(), limits: { cpu: '1' } };
    const template = { ...own.template, metadata: { labels: { 'example.com/own': 'yes' } } };
    await kube.create(Kinds.NodePool, { metadata: { name: 'own' }, spec: { ...own, template } });
    for (const name of ['one', 'other']) await kube.create(Kinds.NodePool, { metadata: { name }, spec: poolSpec() });
    const workload = async (name: string, cpu: string, nodeSelector?: Record<string, string>) => {
      const labels = { app: name };
      const containers = [{ name: 'main', image: 'app', resources: { requests: { cpu } } }];
      const spec = { containers, ...(nodeSelector && { nodeSelector }) };
      await kube.create(Kinds.Deployment, {
        metadata: { name, namespace: 'default' },
        spec: { replicas: 3, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
      });
    };
    await workload('limited', '900m', { 'example.com/own': 'yes' });
    await workload('large', '40');
    await ground.advance(2 * MINUTE);
    const nameOf = async (app: string): Promise<string> =>
      (await ground?.pods())?.find(({ metadata }) => metadata.labels?.['app'] === app)?.metadata.name ?? '';
    const limited = await ground.explain({ kind: 'pod', name: await nameOf('limited'), namespace: 'default' });
    const { constraint, sentence } = limited;
    expect({ constraint, sentence }).toEqual({
      constraint: 'limits',
      sentence: 'NodePool "own": spec.limits of cpu would be exceeded',
    });
    expect(limited.fixes.slice(0, 2).map((fix) => fix.sentence)).toEqual([
      'raise spec.limits.cpu of NodePool "own" from 1 to 4',
      'drop example.com/own=yes from nodeSelector',
    ]);
    const { fixes } = await ground.explain({ kind: 'pod', name: await nameOf('large'), namespace: 'default' });
    expect(fixes.map((fix) => fix.sentence.endsWith('cpu less, to fit on m8'))).toEqual([true]);
    const [raise] = limited.fixes;
    if (raise) await ground.apply(raise);
    await ground.advance(5 * MINUTE);
    const running = (await ground.pods())
      .filter(({ spec }) => spec?.nodeName)
      .map(({ metadata }) => metadata.labels?.['app']);
    expect(running).toEqual(['limited', 'limited', 'limited']);
  });
});
