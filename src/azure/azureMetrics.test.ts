import { expect, it } from 'vitest';
import { AzureFixture } from '../../test/fixtures/azure/azureFixture.ts';
import { Labels } from '../api/labels.ts';
import { ArmError } from '../local/arm/armError.ts';
import { PrometheusMetrics } from '../server/metrics.ts';

it('counts launches, requests, budgets and quota', async () => {
  const metrics = new PrometheusMetrics({ build: { version: '0' } });
  const fixture = await AzureFixture.start({ metrics });
  await fixture.makeNodeClass('default');
  const error = new ArmError(409, 'ZonalAllocationFailed', 'No room in the zone.');
  fixture.failNext('virtualMachines.createOrUpdate', { kind: 'refuse', error });
  const size = { key: Labels.skuFamily, operator: 'In' as const, values: ['D'] };
  await fixture.launch(fixture.claimNamed('pool-1', [size]));
  const text = await metrics.render();
  const seriesOf = (name: string): readonly string[] => text.split('\n').filter((line) => line.startsWith(`${name}{`));
  expect(seriesOf('karpenter_instance_vm_create_start_total')).toHaveLength(2);
  const [failure = '', ...others] = seriesOf('karpenter_instance_vm_create_failure_total');
  expect(others).toEqual([]);
  for (const label of [
    'phase="sync"',
    'error_code="ZonalAllocationFailed"',
    'nodepool="pool"',
    'capacity_type="on-demand"',
  ])
    expect(failure).toContain(label);
  expect(seriesOf('nodewright_azure_requests_total')).toContain(
    'nodewright_azure_requests_total{operation="Microsoft.Compute/virtualMachines PUT",outcome="409"} 1',
  );
  expect(seriesOf('nodewright_azure_throttle_remaining').length).toBeGreaterThan(2);
  expect(seriesOf('nodewright_azure_quota_remaining').length).toBeGreaterThan(10);
  await fixture.close();
});
