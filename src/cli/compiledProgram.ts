/**
 * Loads a bundle of the program with V8's code cache from the build. Compiling took a fifth of the time of `plan`,
 * which pipelines run often. A different V8 version ignores the cache and compiles.
 */
import { existsSync, readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Script } from 'node:vm';
import { InvariantError } from '../errors/invariantError.ts';
import type { runProgram } from './program.ts';
import { expectShortRun } from './shortRun.ts';

interface CompiledProgram {
  readonly runProgram: typeof runProgram;
  /** Whether V8 accepted the code cache. */
  readonly isKept: boolean;
  /** Creates a code cache of all functions that have run. */
  compiled(): Buffer;
}

/** Undefined if there is no such bundle, as when the program runs from source. */
export function loadCompiledProgram(file: string): CompiledProgram | undefined {
  if (!existsSync(file)) return undefined;
  // V8 accepts a code cache only under the flags with which it was made.
  expectShortRun();
  const kept = compiledFile(file);
  const script = new Script(Module.wrap(readFileSync(file, 'utf8')), {
    filename: file,
    ...(existsSync(kept) && { cachedData: readFileSync(kept) }),
  });
  const module: { exports: Partial<Pick<CompiledProgram, 'runProgram'>> } = { exports: {} };
  const run = script.runInThisContext() as (...args: readonly unknown[]) => void;
  run(module.exports, createRequire(file), module, file, dirname(file));
  const { runProgram } = module.exports;
  if (!runProgram) throw new InvariantError(`${file} is not a bundle of the program: build it again`);
  return { runProgram, isKept: script.cachedDataRejected === false, compiled: () => script.createCachedData() };
}

export function compiledFile(file: string): string {
  return `${file}.compiled`;
}
