import { expect, it } from 'vitest';
import { kubeletDefaults } from '../../test/fixtures/azure/kubeletDefaults.ts';
import { kubeletConfigOf } from './aksProfiles.ts';

it('formats durations as Go does, and leaves out empty values', () => {
  const kubelet = { ...kubeletDefaults, cpuCFSQuotaPeriod: '1000ms', allowedUnsafeSysctls: [] };
  expect(kubeletConfigOf({ imageFamily: 'Ubuntu', osDiskSizeGB: 128, kubelet })).toEqual({
    cpuManagerPolicy: 'none',
    topologyManagerPolicy: 'none',
    cpuCfsQuota: true,
    cpuCfsQuotaPeriod: '1s',
    containerLogMaxFiles: 5,
    containerLogMaxSizeMB: 50,
  });
});

it('takes sizes with K, which the CRD allows', () => {
  const kubelet = { ...kubeletDefaults, containerLogMaxSize: '20000K' };
  expect(kubeletConfigOf({ imageFamily: 'Ubuntu', osDiskSizeGB: 128, kubelet })).toMatchObject({
    containerLogMaxSizeMB: 19,
  });
});
