const MIB = 2 ** 20;
/** Karpenter gives Go nine tenths of the container's memory. */
const HEAP_SHARE = 0.9;
const TOLERANCE = 0.15;

export interface HeapAdvice {
  readonly memoryLimitMiB: number;
  readonly heapLimitMiB: number;
  readonly remedy: string;
}

/**
 * Whether the heap limit of Node.js suits the memory limit of the container: above it the container is killed before
 * memory is collected, far below it memory that was paid for is never used. Node.js fixes the heap limit when it starts,
 * so the process can only say what to set. Undefined when the two suit each other or no limit is known.
 */
export function heapAdvice(memoryLimit: number | undefined, heapLimit: number): HeapAdvice | undefined {
  if (memoryLimit === undefined) return undefined;
  const wanted = memoryLimit * HEAP_SHARE;
  if (Math.abs(heapLimit - wanted) <= wanted * TOLERANCE) return undefined;
  return {
    memoryLimitMiB: Math.round(memoryLimit / MIB),
    heapLimitMiB: Math.round(heapLimit / MIB),
    remedy: `set NODE_OPTIONS=--max-old-space-size=${Math.floor(wanted / MIB)}`,
  };
}
