/**
 * Sets the heap limit of Node.js from the container's memory limit, as Karpenter does for Go: if it is higher, the
 * container is killed before garbage is collected; if it is far lower, memory is wasted. Node.js reads its heap limit
 * only at start, so the process replaces itself once with the right flag; where that is impossible, the log says what
 * to set.
 */
const MIB = 2 ** 20;
/** As in Karpenter: nine tenths of the container's memory. */
const HEAP_SHARE = 0.9;
/** For buffers, code and threads, which are not in the heap. */
const OUTSIDE_HEAP = 128 * MIB;
const TOLERANCE = 0.15;
const FLAG = '--max-old-space-size';

interface HeapAdvice {
  readonly memoryLimitMiB: number;
  readonly heapLimitMiB: number;
  readonly remedy: string;
}

/** The process's properties that affect its heap. */
export interface HeapProcess {
  /** Bytes. */
  readonly heapLimit: number;
  readonly execPath: string;
  /** Flags of Node.js, then the script and its arguments. */
  readonly execArgv: readonly string[];
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Replaces the process, available from Node.js 22.15 on; does not return. */
  readonly execve: ((file: string, args: readonly string[]) => void) | undefined;
}

/** Undefined when the heap fits the limit or the limit is unknown. */
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

/** Restarts the process if that helps; a heap limit set by the user or by an earlier call is kept. */
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
