import { expect, it } from 'vitest';
import { gpuSize } from './gpuRegistry.ts';

it.each([
  'ND96asr_v4',
  'ND96ams_v4',
  'ND96ams_A100_v4',
  'ND96amsr_A100_v4',
  'ND96amsrf_A100_v4',
  'ND112amsr_A100_v4',
  'ND120amsr_A100_v4',
  'ND96ams_A100_flex_v4',
  'NC24_Promo',
])('knows %s', (name) => {
  expect(gpuSize(`Standard_${name}`)).toMatchObject({ manufacturer: 'nvidia' });
});

it.each(['ND112asr_v4', 'ND120ams_A100_v4', 'ND96amsf_A100_v4', 'ND112amsrf_A100_v4', 'NG32ads_V620_v1'])(
  'does not know %s',
  (name) => {
    expect(gpuSize(`Standard_${name}`)).toBeUndefined();
  },
);
