import { describe, expect, it } from 'vitest';
import { renderCrds } from '../../api/crds.ts';
import { Kinds } from '../../api/kinds.ts';
import { instance, Simulation } from '../../../test/fixtures/local/simulation.ts';
import { isActive } from '../../pods/podPredicates.ts';
import { isReady } from '../workloads/podState.ts';
import { parseFault } from '../faults/faultKinds.ts';
import { installManifests } from './manifests.ts';
import { SCENARIOS, scenarios, troubleWorld } from './scenarios.ts';

describe.each(SCENARIOS)('scenario %s', (name) => {
  it('is accepted by the API, and all its pods run where there is room', async () => {
    const simulation = new Simulation();
    for (const crd of renderCrds()) await simulation.create(Kinds.CustomResourceDefinition, crd);
    const labels = { 'karpenter.sh/capacity-type': 'spot' };
    await simulation.boot(
      ...[1, 2, 3].map((zone) => instance(`n${zone}`, { zone: `eastus-${zone}`, cpu: '256', memory: '1Ti', labels })),
    );
    await installManifests(simulation.kube, scenarios[name].manifests);
    const end = troubleWorld(name, simulation.world.faults);
    await simulation.advance(90_000);
    const waiting = (await simulation.pods()).filter((pod) => isActive(pod) && !isReady(pod));
    expect(
      waiting.filter(({ metadata }) => Date.parse(metadata.creationTimestamp ?? '') < simulation.clock.now() - 30_000),
    ).toEqual([]);
    end();
    await simulation.stop();
  });

  it('has troubles that can be read', () => {
    const kinds = scenarios[name].troubles.map(({ fault }) => parseFault(fault).kind);
    expect(kinds).toHaveLength(scenarios[name].troubles.length);
  });
});
