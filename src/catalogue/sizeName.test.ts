import { describe, expect, it } from 'vitest';
import { parseSizeName } from './sizeName.ts';

describe('size names', () => {
  it.each([
    ['Standard_D4pls_v6', { family: 'D', subfamily: '', cpus: 4, features: 'pls', version: '6', series: 'Dpls_v6' }],
    [
      'Standard_NC24ads_A100_v4',
      { family: 'N', subfamily: 'C', accelerator: 'A100', version: '4', series: 'NCads_v4' },
    ],
    ['Standard_NC16as_T4_v3', { accelerator: 'T4', series: 'NCas_v3' }],
    ['Standard_B2ms', { family: 'B', cpus: 2, features: 'ms', version: '1', series: 'Bms', accelerator: undefined }],
    ['Standard_M8-2ms', { cpus: 8, constrainedCpus: 2, features: 'ms' }],
    ['Standard_D11_v2_Promo', { cpus: 11, version: '2', accelerator: undefined }],
    ['Standard_DS2_v2', { family: 'D', subfamily: 'S', version: '2', series: 'DS_v2' }],
    ['Standard_NM16ads_MA35D', { family: 'N', subfamily: 'M', accelerator: 'MA35D', version: undefined }],
    ['Standard_ND96is_flex_H100_v5', { accelerator: 'H100', version: '5' }],
  ])('%s', (name, parts) => {
    expect(parseSizeName(name)).toMatchObject(parts);
  });

  it.each(['', 'Standard_', 'Standard_4', 'AZAP_Performance_ComputeV17C'])('refuses %j', (name) => {
    expect(parseSizeName(name)).toBeUndefined();
  });
});
