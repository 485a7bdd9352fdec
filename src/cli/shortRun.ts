/** Settings of V8 for a command that ends within a second or two: optimising its code costs more than the code gains. */
import { setFlagsFromString } from 'node:v8';

/** Bytes of bytecode that a function runs before V8 looks at optimising it; its own setting is a quarter or half of it. */
const INTERRUPT_BUDGET = 260_000;
/** By how much room for young objects grows at once: a short command would else copy them a dozen times while it doubles. */
const YOUNG_GROWTH = 16;
/** Others may not know the flags, and V8 writes about unknown flags to standard error. */
const TRIED_MAJORS = ['11', '12', '13'];

export function expectShortRun(): void {
  const [major = ''] = process.versions.v8.split('.');
  if (!TRIED_MAJORS.includes(major)) return;
  setFlagsFromString(`--interrupt-budget=${INTERRUPT_BUDGET}`);
  setFlagsFromString(`--semi-space-growth-factor=${YOUNG_GROWTH}`);
  // Marking a little at a time slows down every write in between, and such a command mostly ends before it is done.
  setFlagsFromString('--no-incremental-marking');
}
