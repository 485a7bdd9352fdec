import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds, type PodDisruptionBudget } from '../../api/kinds.ts';
import { isTooManyRequests } from '../../kube/errors.ts';
import { instance, Simulation } from '../../../test/fixtures/local/simulation.ts';
import { isReady } from './podState.ts';

describe('a PodDisruptionBudget', () => {
  let simulation: Simulation;
  const labels = { app: 'web' };
  const ref = { name: 'web', namespace: 'default' };
  beforeEach(async () => {
    simulation = new Simulation();
    await simulation.boot(instance('one'));
    await simulation.create(Kinds.Deployment, {
      metadata: ref,
      spec: {
        replicas: 5,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
      },
    });
    await simulation.until(async () => (await simulation.pods()).filter(isReady).length === 5);
  });
  afterEach(() => simulation.stop());

  async function status(spec: object): Promise<PodDisruptionBudget['status']> {
    const selector = { matchLabels: labels };
    await simulation.create(Kinds.PodDisruptionBudget, { metadata: ref, spec: { selector, ...spec } });
    await simulation.advance(1_000);
    return (await simulation.kube.get(Kinds.PodDisruptionBudget, ref)).status;
  }

  it.each([
    [{ minAvailable: 3 }, { desiredHealthy: 3, disruptionsAllowed: 2 }],
    [{ minAvailable: '50%' }, { desiredHealthy: 3, disruptionsAllowed: 2 }],
    [{ maxUnavailable: 1 }, { desiredHealthy: 4, disruptionsAllowed: 1 }],
    [{ maxUnavailable: '30%' }, { desiredHealthy: 3, disruptionsAllowed: 2 }],
    [{ maxUnavailable: 0 }, { desiredHealthy: 5, disruptionsAllowed: 0 }],
  ])('with %j has the expected counts', async (spec, expected) => {
    expect(await status(spec)).toMatchObject({ currentHealthy: 5, expectedPods: 5, ...expected });
  });

  it('allows the next eviction only after the evicted pod has been replaced', async () => {
    await status({ maxUnavailable: 1 });
    const [first, second] = await simulation.pods();
    const evict = (name: string | undefined): Promise<void> =>
      simulation.kube.evict({ name: name ?? '', namespace: 'default' });
    await evict(first?.metadata.name);
    await expect(evict(second?.metadata.name)).rejects.toSatisfy(isTooManyRequests);
    await simulation.advance(10_000);
    await evict(second?.metadata.name);
    await simulation.advance(10_000);
    expect((await simulation.pods()).filter(isReady)).toHaveLength(5);
  });
});
