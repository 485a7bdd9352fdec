import { expect, it } from 'vitest';
import { kubeletConfigOf } from './aksProfiles.ts';

it('spells durations as Go does, and leaves out what says nothing', () => {
  const kubelet = {
    cpuManagerPolicy: 'none',
    topologyManagerPolicy: 'none',
    cpuCFSQuota: true,
    cpuCFSQuotaPeriod: '1000ms',
    containerLogMaxFiles: 5,
    containerLogMaxSize: '50Mi',
    allowedUnsafeSysctls: [],
  } as const;
  expect(
    kubeletConfigOf({ imageFamily: 'Ubuntu', osDiskSizeGB: 128, kubelet: { ...kubelet, allowedUnsafeSysctls: [] } }),
  ).toEqual({
    cpuManagerPolicy: 'none',
    topologyManagerPolicy: 'none',
    cpuCfsQuota: true,
    cpuCfsQuotaPeriod: '1s',
    containerLogMaxFiles: 5,
    containerLogMaxSizeMB: 50,
  });
});
