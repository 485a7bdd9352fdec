import { expect, it } from 'vitest';
import { AzureFixture } from '../../test/fixtures/azure/azureFixture.ts';
import { Kinds } from '../api/kinds.ts';
import { Labels } from '../api/labels.ts';
import { learnedRooms, learnedTable } from './learnedRooms.ts';

it('shows what nodes really offer beside what was expected', async () => {
  const fixture = await AzureFixture.start();
  const { kube } = fixture;
  const claim = await kube.create(Kinds.NodeClaim, { ...fixture.claimNamed('pool-1'), metadata: { name: 'pool-1' } });
  const status = {
    providerID: 'azure:///vm',
    imageID: '/CommunityGalleries/g/images/2404gen2containerd/versions/1.0',
    capacity: { cpu: '2', memory: '8Gi', pods: '250', 'ephemeral-storage': '128G' },
    allocatable: { cpu: '1900m', memory: '5000Mi', pods: '250', 'ephemeral-storage': '115200M' },
  };
  await kube.replace(Kinds.NodeClaim, { ...claim, status }, { subresource: 'status' });
  const labels = { [Labels.instanceType]: 'Standard_D2s_v5', [Labels.initialized]: 'true' };
  const node = await kube.create(Kinds.Node, { metadata: { name: 'n', labels }, spec: { providerID: 'azure:///vm' } });
  const allocatable = { cpu: '1900m', memory: '5500Mi', 'ephemeral-storage': '115200M' };
  await kube.replace(Kinds.Node, { ...node, status: { allocatable } }, { subresource: 'status' });
  const rows = await learnedRooms(kube);
  expect(rows).toMatchObject([{ instanceType: 'Standard_D2s_v5', nodes: 1, more: { cpu: 0, memory: 10 } }]);
  expect(learnedTable(rows)).toMatch(/^Standard_D2s_v5 +2404gen2containerd 1\.0 +1 +cpu 1900m +1900m +0 %$/m);
  expect(learnedTable(rows)).toMatch(/^ +memory 5000Mi +5500Mi +10 %$/m);
  await fixture.close();
});
