import { expect, it } from 'vitest';
import { MemoryCloud } from '../../../test/fixtures/engine/memoryCloud.ts';
import { RecordedMetrics } from '../../../test/fixtures/engine/recordedMetrics.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import { InstanceNotFoundError } from '../../cloud/errors.ts';
import { meteredCloud } from './meteredCloud.ts';

it('measures every call and names failures as dashboards know them', async () => {
  const clock = new VirtualClock(0);
  const metrics = new RecordedMetrics();
  const inner = new MemoryCloud({ clock, power: { powerOn: () => undefined, powerOff: () => undefined } });
  const cloud = meteredCloud(inner, { metrics, clock, controller: 'me' });
  expect(await cloud.list()).toEqual([]);
  await expect(cloud.get('none')).rejects.toThrow(InstanceNotFoundError);
  const labels = { controller: 'me', provider: 'memory' };
  expect(metrics.observed('karpenter_cloudprovider_duration_seconds', { ...labels, method: 'List' })).toHaveLength(1);
  expect(metrics.observed('karpenter_cloudprovider_duration_seconds', { ...labels, method: 'Get' })).toHaveLength(1);
  const error = { ...labels, method: 'Get', error: 'NodeClaimNotFoundError' };
  expect(metrics.value('karpenter_cloudprovider_errors_total', error)).toBe(1);
});
