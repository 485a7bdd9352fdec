import { describe, expect, it } from 'vitest';
import { quantityOf } from '../units/resources.ts';
import {
  allocatableOf,
  capacityOf,
  kubeReservedMebibytes,
  kubeReservedMillicores,
  type MachineShape,
} from './overhead.ts';

/** vCPUs, GiB, kube-reserved millicores and MiB, capacity and allocatable in MiB, allocatable millicores. */
const TABLE = [
  [2, 3.5, 100, 896, 2841.6, 1195.6, 1900],
  [2, 4, 100, 1024, 3788.8, 2014.8, 1900],
  [2, 7, 100, 1638, 6630.4, 4242.4, 1900],
  [2, 8, 100, 1843, 7577.6, 4984.6, 1900],
  [4, 7, 140, 1638, 6630.4, 4242.4, 3860],
  [4, 16, 140, 2662, 15155.2, 11743.2, 3860],
  [3, 64, 120, 5611, 60620.8, 54259.8, 2880],
  [8, 32, 180, 3645, 30310.4, 25915.4, 7820],
  [16, 64, 260, 5611, 60620.8, 54259.8, 15740],
  [32, 128, 420, 9543, 121241.6, 110948.6, 31580],
  [64, 256, 740, 12165, 242483.2, 229568.2, 63260],
  [24, 220, 340, 11427, 208384, 196207, 23660],
  [96, 384, 1060, 14786, 363724.8, 348188.8, 94940],
  [120, 456, 1299, 16261, 431923.2, 414912.2, 118701],
  [128, 512, 1380, 17408, 484966.4, 466808.4, 126620],
] as const;

function shapeOf(cpus: number, memoryGiB: number): MachineShape {
  return {
    cpus,
    memoryGiB,
    osDiskSizeGB: 128,
    maxPods: 250,
    gpus: 0,
    gpuManufacturer: undefined,
    memoryOverheadPercent: 0.075,
  };
}

const mebibytes = (bytes: number): number => Math.round((bytes / 2 ** 20) * 10) / 10;

describe('what an instance offers to pods', () => {
  it.each(TABLE)('%d vCPUs and %d GiB', (cpus, memoryGiB, reservedCpu, reservedMemory, capacity, memory, cpu) => {
    const shape = shapeOf(cpus, memoryGiB);
    expect(kubeReservedMillicores(cpus)).toBe(reservedCpu);
    expect(kubeReservedMebibytes(memoryGiB)).toBe(reservedMemory);
    expect(mebibytes(quantityOf(capacityOf(shape), 'memory').value())).toBe(capacity);
    expect(mebibytes(quantityOf(allocatableOf(shape), 'memory').value())).toBe(memory);
    expect(quantityOf(allocatableOf(shape), 'cpu').milliValue()).toBe(cpu);
  });

  it('counts the system disk in decimal gigabytes and leaves it to pods whole', () => {
    expect(quantityOf(allocatableOf(shapeOf(2, 8)), 'ephemeral-storage').value()).toBe(115.2e9);
    expect(quantityOf(allocatableOf(shapeOf(2, 8)), 'pods').value()).toBe(250);
  });

  it('counts GPUs under the name of their maker', () => {
    const capacity = capacityOf({ ...shapeOf(24, 220), gpus: 4, gpuManufacturer: 'amd' });
    expect(quantityOf(capacity, 'amd.com/gpu').value()).toBe(4);
    expect(quantityOf(capacity, 'nvidia.com/gpu').value()).toBe(0);
  });
});
