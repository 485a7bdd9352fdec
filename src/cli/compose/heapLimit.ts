/**
 * Fits the heap of Node.js to the memory limit of the container, as Karpenter fits Go's: above it the container is killed
 * before memory is collected, far below it memory that was paid for is never used. Node.js fixes its heap when it starts,
 * so the process replaces itself once by one with the right flag; where it cannot, the log says what to set.
 */
const MIB = 2 ** 20;
/** Karpenter gives Go nine tenths of the container's memory. */
const HEAP_SHARE = 0.9;
/** Buffers, code and threads lie outside of the heap. */
const OUTSIDE_HEAP = 128 * MIB;
const TOLERANCE = 0.15;
const FLAG = '--max-old-space-size';

interface HeapAdvice {
  readonly memoryLimitMiB: number;
  readonly heapLimitMiB: number;
  readonly remedy: string;
}

/** The process as far as its heap is concerned. */
export interface HeapProcess {
  /** Bytes. */
  readonly heapLimit: number;
  readonly execPath: string;
  /** Flags of Node.js, then the script and its arguments. */
  readonly execArgv: readonly string[];
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Replaces the process, from Node.js 22.15 on; it does not return. */
  readonly execve: ((file: string, args: readonly string[]) => void) | undefined;
}

/** Undefined when the heap suits the limit or no limit is known. */
export function heapAdvice(memoryLimit: number | undefined, heapLimit: number): HeapAdvice | undefined {
  if (memoryLimit === undefined) return undefined;
  const wanted = wantedHeap(memoryLimit);
  if (Math.abs(heapLimit - wanted) <= wanted * TOLERANCE) return undefined;
  return {
    memoryLimitMiB: Math.round(memoryLimit / MIB),
    heapLimitMiB: Math.round(heapLimit / MIB),
    remedy: `set NODE_OPTIONS=${FLAG}=${Math.floor(wanted / MIB)}`,
  };
}

/** Starts the process anew when that helps; a heap that the user has set, or that was set by this, stays. */
export function fitHeap(memoryLimit: number | undefined, host: HeapProcess): void {
  if (memoryLimit === undefined || heapAdvice(memoryLimit, host.heapLimit) === undefined) return;
  const isSet = [...host.execArgv, host.environment['NODE_OPTIONS'] ?? ''].some((text) => FLAG_GIVEN.test(text));
  if (isSet) return;
  const flag = `${FLAG}=${Math.floor(wantedHeap(memoryLimit) / MIB)}`;
  host.execve?.(host.execPath, [host.execPath, ...host.execArgv, flag, ...host.argv.slice(1)]);
}

const FLAG_GIVEN = /--max[-_]old[-_]space[-_]size/;

function wantedHeap(memoryLimit: number): number {
  return Math.max(memoryLimit / 2, Math.min(memoryLimit * HEAP_SHARE, memoryLimit - OUTSIDE_HEAP));
}
