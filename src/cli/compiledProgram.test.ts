import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compiledFile, loadCompiledProgram } from './compiledProgram.ts';

describe('a bundle with a code cache', () => {
  let folder: string;
  let bundle: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nodewright-compiled-'));
    bundle = join(folder, 'program.cjs');
    await writeFile(bundle, 'exports.runProgram = async (words) => words.length;');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('runs with and without the code cache', async () => {
    const fresh = loadCompiledProgram(bundle);
    expect(await fresh?.runProgram(['one', 'two'])).toBe(2);
    await writeFile(compiledFile(bundle), fresh?.compiled() ?? '');
    const kept = loadCompiledProgram(bundle);
    expect(kept?.isKept).toBe(true);
    expect(await kept?.runProgram(['one'])).toBe(1);
  });

  it('compiles when the code cache is of another V8 or another bundle', async () => {
    await writeFile(compiledFile(bundle), 'not what V8 keeps');
    const other = loadCompiledProgram(bundle);
    expect(other?.isKept).toBe(false);
    expect(await other?.runProgram([])).toBe(0);
  });

  it('does not exist where the program runs from source', () => {
    expect(loadCompiledProgram(join(folder, 'none.cjs'))).toBeUndefined();
  });

  it('reports a file that is something else', async () => {
    await writeFile(bundle, 'exports.run = 1;');
    expect(() => loadCompiledProgram(bundle)).toThrow('program.cjs is not a bundle of the program');
  });
});
