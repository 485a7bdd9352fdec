import { Option } from 'commander';

/** Milliseconds between two reads. */
const INTERVAL = 10_000;

export function watchOption(): Option {
  return new Option('-w, --watch', 'look again every ten seconds, and print when the answer is another one');
}

/** Prints the result of `answer`; with `watch`, again whenever it changes, until the signal or the process ends. */
export async function printWatched(
  answer: () => Promise<string>,
  watch: boolean,
  { write, wait, signal }: WatchPorts = SYSTEM,
): Promise<void> {
  let last: string | undefined;
  for (;;) {
    const text = await answer();
    if (text !== last) write(text);
    last = text;
    if (!watch || signal?.aborted === true) return;
    await wait(INTERVAL);
  }
}

export interface WatchPorts {
  readonly write: (text: string) => void;
  readonly wait: (milliseconds: number) => Promise<void>;
  readonly signal?: AbortSignal;
}

const SYSTEM: WatchPorts = {
  write: (text) => void process.stdout.write(text),
  wait: (milliseconds) =>
    new Promise((resolve) => {
      setTimeout(resolve, milliseconds);
    }),
};
