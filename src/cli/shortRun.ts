/** V8 settings for a command that ends within a second or two: optimizing its code costs more than it gains. */
import { setFlagsFromString } from 'node:v8';

/** Bytes of bytecode that a function runs before V8 considers optimizing it; the default is a quarter to half of it. */
const INTERRUPT_BUDGET = 260_000;
/**
 * Growth step of the young generation: otherwise a short command copies young objects a dozen times while it doubles.
 */
const YOUNG_GROWTH = 16;
/** Other versions may not support the flags, and V8 prints unknown flags to standard error. */
const TRIED_MAJORS = ['11', '12', '13'];

export function expectShortRun(): void {
  const [major = ''] = process.versions.v8.split('.');
  if (!TRIED_MAJORS.includes(major)) return;
  setFlagsFromString(`--interrupt-budget=${INTERRUPT_BUDGET}`);
  setFlagsFromString(`--semi-space-growth-factor=${YOUNG_GROWTH}`);
  // Incremental marking slows every write, and a short command mostly ends before it completes.
  setFlagsFromString('--no-incremental-marking');
}
