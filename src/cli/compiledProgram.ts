/**
 * A bundle of the program together with the code that V8 made of it when it was built. Compiling was a fifth of what
 * `plan` takes, which pipelines run again and again. Where V8 is another one it ignores the kept code and compiles.
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
  /** V8 took the code that was kept. */
  readonly isKept: boolean;
  /** The code of all functions that have run since. */
  compiled(): Buffer;
}

/** Undefined where there is no such bundle, as when the program runs from source. */
export function loadCompiledProgram(file: string): CompiledProgram | undefined {
  if (!existsSync(file)) return undefined;
  // V8 takes kept code only under the settings that it was made with.
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
