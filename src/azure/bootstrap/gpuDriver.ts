/** The GPU driver that an AKS image installs for an NVIDIA instance type. First match wins. */
import { InvariantError } from '../../errors/invariantError.ts';

interface GpuDriver {
  readonly type: 'cuda' | 'cuda-lts' | 'grid' | 'grid-v20';
  readonly version: string;
  /** Tag suffix of the driver image. */
  readonly imageSuffix: string;
}

const CUDA_IMAGE = '20260629214430';
const DRIVERS: readonly (readonly [names: RegExp, driver: GpuDriver])[] = [
  [/rtxpro6000/i, { type: 'grid-v20', version: '595.58.03', imageSuffix: '20260609172331' }],
  [/^Standard_(?:NV\w+_A10_v5|NC\w+_A10_v4)$/i, { type: 'grid', version: '570.211.01', imageSuffix: '20260522192315' }],
  [/^Standard_NC(?!.*_v)/i, { type: 'cuda', version: '470.82.01', imageSuffix: CUDA_IMAGE }],
  // Must match the version in node images.
  [/(?:)/, { type: 'cuda-lts', version: '580.159.04', imageSuffix: CUDA_IMAGE }],
];

export function gpuDriverOf(instanceType: string): GpuDriver {
  const found = DRIVERS.find(([names]) => names.test(instanceType));
  if (found === undefined) throw new InvariantError(`no GPU driver for ${instanceType}`);
  return found[1];
}
