import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds, type Job } from '../../api/kinds.ts';
import type { Draft } from '../../kube/kube.ts';
import { isActive } from '../../pods/podPredicates.ts';
import { instance, Simulation } from '../../../test/fixtures/local/simulation.ts';
import { finishedAs } from './job.ts';
import { EXIT_CODE, RUN_SECONDS } from './podCompletion.ts';

const ref = { name: 'work', namespace: 'default' };

function job(spec: object, annotations: Record<string, string> = {}, restartPolicy = 'Never'): Draft<Job> {
  return {
    metadata: ref,
    spec: {
      template: {
        metadata: { annotations },
        spec: { restartPolicy, containers: [{ name: 'main', image: 'worker' }] },
      },
      ...spec,
    } as NonNullable<Job['spec']>,
  };
}

describe('a Job', () => {
  let simulation: Simulation;
  beforeEach(async () => {
    simulation = new Simulation();
    await simulation.boot(instance('one', { cpu: '64', memory: '64Gi' }));
  });
  afterEach(() => simulation.stop());

  const current = (): Promise<Job> => simulation.kube.get(Kinds.Job, ref);
  const finish = (): Promise<void> =>
    simulation.until(async () => finishedAs(await current()) !== undefined, 7_200_000);

  it('runs pods up to its parallelism until its completions are reached, and counts each once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 5 }),
        async (completions, parallelism) => {
          await simulation.create(Kinds.Job, job({ completions, parallelism }));
          let most = 0;
          await simulation.until(async () => {
            most = Math.max(most, (await simulation.pods()).filter(isActive).length);
            return finishedAs(await current()) !== undefined;
          });
          expect(most).toBe(Math.min(completions, parallelism));
          await simulation.advance(1_000);
          expect((await current()).status).toMatchObject({ succeeded: completions });
          expect((await current()).status?.active ?? 0).toBe(0);
          await simulation.kube.delete(Kinds.Job, ref, { propagationPolicy: 'Background' });
          await simulation.until(async () => (await simulation.pods()).length === 0);
        },
      ),
      { numRuns: 5 },
    );
  });

  it('fails after its back-off limit, with increasing back-off', async () => {
    await simulation.create(Kinds.Job, job({ backoffLimit: 2 }, { [EXIT_CODE]: '1', [RUN_SECONDS]: '1' }));
    await finish();
    const { status } = await current();
    expect(finishedAs(await current())).toBe('Failed');
    expect(status?.conditions?.at(-1)?.reason).toBe('BackoffLimitExceeded');
    expect(await simulation.pods()).toHaveLength(3);
    const [first, second, third] = (await simulation.pods())
      .map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ''))
      .sort((left, right) => left - right);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(10_000);
    expect((third ?? 0) - (second ?? 0)).toBeGreaterThanOrEqual(20_000);
  });

  it('runs every index once when indexed, and is deleted after its time to live', async () => {
    await simulation.create(
      Kinds.Job,
      job({ completions: 4, parallelism: 2, completionMode: 'Indexed', ttlSecondsAfterFinished: 60 }),
    );
    await finish();
    expect((await current()).status?.completedIndexes).toBe('0-3');
    await simulation.advance(61_000);
    expect((await simulation.kube.list(Kinds.Job)).items).toEqual([]);
    expect(await simulation.pods()).toEqual([]);
  });

  it('waits as a work queue without parallelism, until it has some', async () => {
    await simulation.create(Kinds.Job, job({ parallelism: 0 }));
    await simulation.advance(30_000);
    expect([finishedAs(await current()), await simulation.pods()]).toEqual([undefined, []]);
    await simulation.kube.patch(Kinds.Job, ref, { type: 'merge', body: { spec: { parallelism: 1 } } });
    await finish();
    expect((await current()).status).toMatchObject({ succeeded: 1 });
  });

  it('replaces an evicted pod without counting a failure if its policy ignores disruptions', async () => {
    const podFailurePolicy = { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }] };
    await simulation.create(Kinds.Job, job({ backoffLimit: 0, podFailurePolicy }, { [RUN_SECONDS]: '60' }));
    await simulation.advance(10_000);
    const [pod] = await simulation.pods();
    const podRef = { name: pod?.metadata.name ?? '', namespace: 'default' };
    const status = { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }] };
    await simulation.kube.patch(Kinds.Pod, podRef, { type: 'strategic', body: { status } }, { subresource: 'status' });
    await simulation.kube.evict(podRef);
    await finish();
    expect(finishedAs(await current())).toBe('Complete');
  });

  it('is created on schedule by a CronJob, one at a time with Forbid, and deleted beyond the history limit', async () => {
    await simulation.create(Kinds.CronJob, {
      metadata: { name: 'tick', namespace: 'default' },
      spec: {
        schedule: '*/5 * * * *',
        concurrencyPolicy: 'Forbid',
        successfulJobsHistoryLimit: 2,
        jobTemplate: { spec: { ...job({}, { [RUN_SECONDS]: '400' }).spec } } as never,
      },
    });
    await simulation.advance(3_600_000);
    const { items } = await simulation.kube.list(Kinds.Job);
    expect(items.filter((each) => finishedAs(each) === 'Complete')).toHaveLength(2);
    expect(items.filter((each) => !finishedAs(each)).length).toBeLessThanOrEqual(1);
    const cronJob = await simulation.kube.get(Kinds.CronJob, { name: 'tick', namespace: 'default' });
    expect(cronJob.status?.lastScheduleTime).toMatch(/T(09:[0-5][05]|10:00):00Z$/);
  });

  it.each(['Background', 'Foreground', 'Orphan'] as const)(
    'that is deleted while it runs (%s) leaves no pod with its finalizer',
    async (propagationPolicy) => {
      const namespace = 'batch';
      await simulation.create(Kinds.Namespace, { metadata: { name: namespace } });
      const draft = job({ parallelism: 2, completions: 2 }, { [RUN_SECONDS]: '3600' });
      await simulation.create(Kinds.Job, { ...draft, metadata: { name: 'work', namespace } });
      await simulation.advance(10_000);
      await simulation.kube.delete(Kinds.Job, { name: 'work', namespace }, { propagationPolicy });
      await simulation.advance(60_000);
      expect((await simulation.pods()).map(({ metadata }) => metadata.finalizers)).toEqual(
        propagationPolicy === 'Orphan' ? [undefined, undefined] : [],
      );
      await simulation.kube.delete(Kinds.Namespace, { name: namespace });
      await simulation.advance(120_000);
      expect((await simulation.kube.list(Kinds.Namespace)).items.map(({ metadata }) => metadata.name)).not.toContain(
        namespace,
      );
    },
  );

  it('that a user creates from a CronJob is not one of its active Jobs, and does not delay the next one', async () => {
    const cronRef = { name: 'tick', namespace: 'default' };
    const spec = job({}, { [RUN_SECONDS]: '100000' }).spec;
    const cronJob = await simulation.create(Kinds.CronJob, {
      metadata: cronRef,
      spec: { schedule: '*/5 * * * *', concurrencyPolicy: 'Forbid', jobTemplate: { spec } as never },
    });
    const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'tick', uid: cronJob.metadata.uid ?? '' };
    await simulation.create(Kinds.Job, {
      metadata: { name: 'by-hand', namespace: 'default', ownerReferences: [{ ...owner, controller: true }] },
      ...(spec && { spec }),
    });
    await simulation.advance(60_000);
    const active = async (): Promise<(string | undefined)[] | undefined> =>
      (await simulation.kube.get(Kinds.CronJob, cronRef)).status?.active?.map(({ name }) => name);
    expect(await active()).toBeUndefined();
    await simulation.advance(300_000);
    expect(await active()).toEqual([expect.stringMatching(/^tick-\d+$/)]);
    await simulation.advance(600_000);
    expect(await active()).toHaveLength(1);
  });
});
