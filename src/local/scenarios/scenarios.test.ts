import { describe, expect, it } from 'vitest';
import { renderCrds } from '../../api/crds.ts';
import { Kinds } from '../../api/kinds.ts';
import { instance, Simulation } from '../../../test/fixtures/local/simulation.ts';
import { isActive } from '../../pods/podPredicates.ts';
import { isReady } from '../workloads/podState.ts';
import { parseFault } from '../faults/faultKinds.ts';
import { installManifests } from './manifests.ts';
import { SCENARIOS, scenarios, scheduleFaults } from './scenarios.ts';

describe.each(SCENARIOS)('scenario %s', (name) => {
  it('is accepted by the API server, and all its pods run on large nodes', async () => {
    const simulation = new Simulation();
    for (const crd of renderCrds()) await simulation.create(Kinds.CustomResourceDefinition, crd);
    const labels = { 'karpenter.sh/capacity-type': 'spot' };
    await simulation.boot(
      ...[1, 2, 3].map((zone) => instance(`n${zone}`, { zone: `eastus-${zone}`, cpu: '256', memory: '1Ti', labels })),
    );
    await installManifests(simulation.kube, scenarios[name].manifests);
    const end = scheduleFaults(name, simulation.world.faults);
    await simulation.advance(90_000);
    const waiting = (await simulation.pods()).filter((pod) => isActive(pod) && !isReady(pod));
    expect(
      waiting.filter(({ metadata }) => Date.parse(metadata.creationTimestamp ?? '') < simulation.clock.now() - 30_000),
    ).toEqual([]);
    end();
    await simulation.stop();
  });

  it('has faults that can be parsed', () => {
    const kinds = scenarios[name].faults.map(({ fault }) => parseFault(fault).kind);
    expect(kinds).toHaveLength(scenarios[name].faults.length);
  });
});
