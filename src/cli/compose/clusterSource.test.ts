import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { interceptedKube } from '../../../test/fixtures/engine/interceptedKube.ts';
import { Simulation } from '../../../test/fixtures/local/simulation.ts';
import { renderCrds } from '../../api/crds.ts';
import { Kinds } from '../../api/kinds.ts';
import { KubeError } from '../../kube/errors.ts';
import { readCluster } from './clusterSource.ts';

const CATALOGUE = { region: 'eastus', instanceTypes: [] };
const AHEAD = '2099-01-01T00:00:00.000000Z';

describe('the time of a cluster whose clock is ahead', () => {
  let simulation: Simulation;
  beforeEach(async () => {
    simulation = new Simulation();
    for (const crd of renderCrds()) await simulation.kube.create(Kinds.CustomResourceDefinition, crd);
    await simulation.kube.create(Kinds.Node, { metadata: { name: 'old' } });
    const metadata = { name: 'old', namespace: 'kube-node-lease' };
    await simulation.kube.create(Kinds.Lease, { metadata, spec: { holderIdentity: 'old', renewTime: AHEAD } });
  });
  afterEach(() => simulation.stop());

  it('is when a kubelet last said that it lives, if nothing else has happened for long', async () => {
    const { objects } = await readCluster(simulation.kube, CATALOGUE);
    expect(objects.time).toBe(Date.parse(AHEAD));
  });

  it('is ours without the right to read leases', async () => {
    const kube = interceptedKube(simulation.kube, {
      get: async (kind, ref) => {
        if (kind.kind === 'Lease') throw new KubeError({ code: 403, reason: 'Forbidden', message: 'no' });
        return simulation.kube.get(kind, ref);
      },
    });
    const { objects } = await readCluster(kube, CATALOGUE);
    expect(Math.abs(objects.time - Date.now())).toBeLessThan(60_000);
  });
});
