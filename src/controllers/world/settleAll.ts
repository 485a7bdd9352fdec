import { messageOf } from '../../errors/thrown.ts';

/** Runs `work` for every item with bounded concurrency, and reports all failures together. */
export async function settleAll<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const errors: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      try {
        await work(item);
      } catch (error) {
        errors.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  if (errors.length > 0) {
    const [first] = errors;
    const why = messageOf(first);
    throw new AggregateError(errors, `${errors.length} of ${items.length} failed; the first: ${why}`);
  }
}
