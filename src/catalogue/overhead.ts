/**
 * Capacity of an instance type, and its allocatable resources after the kubelet's reservations and eviction thresholds,
 * exact to the byte.
 */
import { Quantity } from '../units/quantity.ts';
import { subtractResources, type Resources } from '../units/resources.ts';
import type { GpuManufacturer } from './gpuRegistry.ts';

const GIBI = 2 ** 30;
const MEBI = 2 ** 20;
const EVICTION_MEMORY_MIB = 750;
/** The kubelet keeps this share of the disk free and subtracts it from the allocatable resources. */
const EVICTION_DISK_PERCENT = 10;
/** Upper end of each step in cores, and the share of it that the kubelet reserves. */
const CPU_STEPS: readonly (readonly [number, number])[] = [
  [1, 0.06],
  [2, 0.04],
  [4, 0.02],
  [Number.POSITIVE_INFINITY, 0.01],
];
/** Upper end of each step in GiB, and the percentage of it that the kubelet reserves. */
const MEMORY_STEPS: readonly (readonly [number, number])[] = [
  [4, 25],
  [8, 20],
  [16, 10],
  [128, 6],
  [Number.POSITIVE_INFINITY, 2],
];

/** Computed in fractional cores and truncated at the end, as in AKS: of 120 cores it reserves 1299m, not 1300m. */
export function kubeReservedMillicores(cpus: number): number {
  return Math.trunc(1000 * stepped(cpus, CPU_STEPS));
}

export function kubeReservedMebibytes(memoryGiB: number): number {
  // Percentages times GiB, converted to MiB at the end, keep the sum exact.
  return Math.trunc((stepped(memoryGiB, MEMORY_STEPS) * 1024) / 100);
}

/** Fractions of a GiB are dropped first, as in AKS: 3.5 GiB count as 3. */
function memoryCapacityBytes(memoryGiB: number, overheadPercent: number): number {
  const bytes = Math.floor(memoryGiB) * GIBI;
  return bytes - Math.ceil(bytes * overheadPercent);
}

export interface MachineShape {
  readonly cpus: number;
  readonly memoryGiB: number;
  readonly osDiskSizeGB: number;
  readonly maxPods: number;
  readonly gpus: number;
  readonly gpuManufacturer: GpuManufacturer | undefined;
  /** Share of memory used by the hypervisor and the kernel; default 0.075. */
  readonly memoryOverheadPercent: number;
}

export function capacityOf(shape: MachineShape): Resources {
  const gpus = (manufacturer: GpuManufacturer): Quantity =>
    Quantity.fromValue(shape.gpuManufacturer === manufacturer ? shape.gpus : 0);
  return {
    cpu: Quantity.fromValue(shape.cpus),
    memory: Quantity.fromValue(memoryCapacityBytes(shape.memoryGiB, shape.memoryOverheadPercent), 'BinarySI'),
    'ephemeral-storage': Quantity.fromValue(shape.osDiskSizeGB * 1e9),
    pods: Quantity.fromValue(shape.maxPods),
    'nvidia.com/gpu': gpus('nvidia'),
    'amd.com/gpu': gpus('amd'),
  };
}

export function allocatableOf(shape: MachineShape, capacity: Resources = capacityOf(shape)): Resources {
  const kept = (kubeReservedMebibytes(shape.memoryGiB) + EVICTION_MEMORY_MIB) * MEBI;
  return subtractResources(capacity, {
    cpu: Quantity.fromMilli(kubeReservedMillicores(shape.cpus)),
    memory: Quantity.fromValue(kept, 'BinarySI'),
    'ephemeral-storage': Quantity.fromValue(Math.ceil((shape.osDiskSizeGB * 1e9 * EVICTION_DISK_PERCENT) / 100)),
  });
}

export const EVICTION_HARD = `memory.available<${EVICTION_MEMORY_MIB}Mi,nodefs.available<${EVICTION_DISK_PERCENT}%`;

function stepped(amount: number, steps: readonly (readonly [number, number])[]): number {
  let sum = 0;
  let start = 0;
  for (const [end, share] of steps) {
    if (amount <= start) break;
    sum += (Math.min(amount, end) - start) * share;
    start = end;
  }
  return sum;
}
