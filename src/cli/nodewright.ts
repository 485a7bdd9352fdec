#!/usr/bin/env node
/** The command. Exit codes: 0 done, 1 failed, 2 wrong usage. */
import { join } from 'node:path';
import { loadCompiledProgram } from './compiledProgram.ts';

/** After this a forgotten handle does not keep a process alive that has nothing left to print. */
const LINGER_MILLISECONDS = 3000;
/** Flags of `plan` that need more of the program than its own bundle. */
const OF_A_CLUSTER = /^--(live|snapshot)(=|$)/;

// `nodewright crds | head` closes our output early, which is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const words = process.argv.slice(2);
const isPlanOfFiles = words[0] === 'plan' && !words.some((word) => OF_A_CLUSTER.test(word));
const compiled = isPlanOfFiles ? loadCompiledProgram(join(import.meta.dirname, 'plan.cjs')) : undefined;
const { runProgram } = compiled ?? (await import('./program.ts'));
process.exitCode = await runProgram(words);
// A reader such as a pager may take its time, and must get all that was printed.
await Promise.all([drained(process.stdout), drained(process.stderr)]);
setTimeout(() => process.exit(), LINGER_MILLISECONDS).unref();

function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0) resolve();
    else stream.write('', () => resolve());
  });
}
