import { expect, it } from 'vitest';
import { kubeletConfigOf } from './aksProfiles.ts';

it('spells durations as Go does, and leaves out what says nothing', () => {
  const kubelet = { cpuCFSQuotaPeriod: '1000ms', allowedUnsafeSysctls: [] };
  expect(kubeletConfigOf({ imageFamily: 'Ubuntu', osDiskSizeGB: 128, kubelet })).toEqual({ cpuCfsQuotaPeriod: '1s' });
});
