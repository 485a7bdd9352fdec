import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds, type Deployment, type ReplicaSet } from '../../api/kinds.ts';
import { container, instance, Simulation } from '../../../test/fixtures/local/simulation.ts';

const ref = { name: 'web', namespace: 'default' };
const CAUSE = 'kubernetes.io/change-cause';
const own = (name: string): string => `deployment.kubernetes.io/${name}`;

describe('a Deployment', () => {
  let simulation: Simulation;
  beforeEach(async () => {
    simulation = new Simulation();
    await simulation.boot(instance('one', { cpu: '4' }));
  });
  afterEach(() => simulation.stop());

  async function create(spec: object = {}, cpu = '100m', annotations: Record<string, string> = {}): Promise<void> {
    const labels = { app: 'web' };
    await simulation.create(Kinds.Deployment, {
      metadata: { ...ref, annotations },
      spec: {
        replicas: 4,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container({ cpu })] } } as never,
        ...spec,
      },
    });
  }
  const patch = (body: object): Promise<Deployment> =>
    simulation.kube.patch(Kinds.Deployment, ref, { type: 'merge', body });
  const useImage = (image: string, cause: string): Promise<Deployment> =>
    patch({
      metadata: { annotations: { [CAUSE]: cause } },
      spec: { template: { spec: { containers: [{ ...container(), image }] } } },
    });
  const current = (): Promise<Deployment> => simulation.kube.get(Kinds.Deployment, ref);
  const replicaSets = async (): Promise<ReplicaSet[]> =>
    (await simulation.kube.list(Kinds.ReplicaSet)).items.toSorted(
      (left, right) =>
        Number(left.metadata.annotations?.[own('revision')]) - Number(right.metadata.annotations?.[own('revision')]),
    );
  const progress = async (): Promise<string> => {
    const condition = (await current()).status?.conditions?.find(({ type }) => type === 'Progressing');
    return `${condition?.status} ${condition?.reason}`;
  };

  it('copies its annotations, revision and size to the ReplicaSet of each template', async () => {
    await create({}, '100m', { [CAUSE]: 'first', 'kubectl.kubernetes.io/last-applied-configuration': '{}' });
    await simulation.advance(10_000);
    await useImage('nginx:2', 'second');
    await simulation.advance(30_000);
    const sets = await replicaSets();
    expect(sets.map(({ metadata }) => metadata.annotations)).toEqual([
      { [CAUSE]: 'first', [own('revision')]: '1', [own('desired-replicas')]: '4', [own('max-replicas')]: '5' },
      { [CAUSE]: 'second', [own('revision')]: '2', [own('desired-replicas')]: '4', [own('max-replicas')]: '5' },
    ]);
    expect((await current()).metadata.annotations?.[own('revision')]).toBe('2');
    await patch({ spec: { replicas: 8 } });
    await simulation.advance(10_000);
    expect((await replicaSets())[1]?.metadata.annotations).toMatchObject({
      [own('desired-replicas')]: '8',
      [own('max-replicas')]: '10',
    });
  });

  it('records earlier revisions on a ReplicaSet that becomes current again', async () => {
    await create({ replicas: 1 });
    await simulation.advance(10_000);
    const { template } = (await current()).spec ?? {};
    await useImage('nginx:2', 'forth');
    await simulation.advance(10_000);
    await patch({ metadata: { annotations: { [CAUSE]: 'back' } }, spec: { template } });
    await simulation.advance(10_000);
    expect((await replicaSets()).at(-1)?.metadata.annotations).toMatchObject({
      [CAUSE]: 'back',
      [own('revision')]: '3',
      [own('revision-history')]: '1',
    });
  });

  it('reports when it exceeds its progress deadline, and when it progresses again', async () => {
    await create({ replicas: 1, progressDeadlineSeconds: 60 }, '16');
    await simulation.advance(30_000);
    expect(await progress()).toBe('True ReplicaSetUpdated');
    await simulation.advance(40_000);
    expect(await progress()).toBe('False ProgressDeadlineExceeded');
    expect((await current()).status?.conditions?.find(({ type }) => type === 'Progressing')?.message).toMatch(
      /^ReplicaSet "web-\w+" has timed out progressing\.$/,
    );
    await simulation.boot(instance('two', { cpu: '32' }));
    await simulation.advance(10_000);
    expect(await progress()).toBe('True NewReplicaSetAvailable');
  });

  it('does not apply the progress deadline while paused', async () => {
    await create({ replicas: 2, progressDeadlineSeconds: 60 });
    await simulation.advance(10_000);
    await patch({ spec: { paused: true } });
    await useImage('nginx:2', 'while paused');
    await simulation.advance(300_000);
    expect(await progress()).toBe('Unknown DeploymentPaused');
    expect(await replicaSets()).toHaveLength(1);
    await patch({ spec: { replicas: 3 } });
    await simulation.advance(10_000);
    expect((await replicaSets())[0]?.spec?.replicas).toBe(3);
    await patch({ spec: { paused: false } });
    await simulation.advance(20_000);
    expect(await progress()).toBe('True NewReplicaSetAvailable');
    expect((await replicaSets()).map(({ spec }) => spec?.replicas)).toEqual([0, 3]);
  });

  it('creates the new ReplicaSet of a Recreate deployment after the old pods are gone', async () => {
    await create({ strategy: { type: 'Recreate' } });
    await simulation.advance(10_000);
    await useImage('nginx:2', 'again');
    await simulation.advance(500);
    expect(await replicaSets()).toHaveLength(1);
    await simulation.advance(20_000);
    expect((await replicaSets()).map(({ spec }) => spec?.replicas)).toEqual([0, 4]);
    expect((await current()).status).toMatchObject({ availableReplicas: 4, updatedReplicas: 4 });
  });
});
