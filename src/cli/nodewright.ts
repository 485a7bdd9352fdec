#!/usr/bin/env node
/** The command. Exit codes: 0 done, 1 failed, 2 called wrongly. */
import { runProgram } from './program.ts';

/** Long enough for streams to drain, short enough that a forgotten handle does not keep a stopped process alive. */
const LINGER_MILLISECONDS = 3000;

// `nodewright crds | head` closes our output early; that is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await runProgram(process.argv.slice(2));
setTimeout(() => process.exit(), LINGER_MILLISECONDS).unref();
