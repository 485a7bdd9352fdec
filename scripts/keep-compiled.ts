// `tsx keep-compiled.ts BUNDLE`: plans the sample with a bundle of the program, and keeps the code that V8 compiled for
// it beside the bundle. What it prints is of no use.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseYamlDocuments } from '../src/api/yaml/parseYaml.ts';
import { compiledFile, loadCompiledProgram } from '../src/cli/compiledProgram.ts';

const [bundle = ''] = process.argv.slice(2);
const yaml = join(import.meta.dirname, 'plan-sample.yaml');
const folder = mkdtempSync(join(tmpdir(), 'nodewright-build-'));
try {
  const json = join(folder, 'sample.json');
  const items = parseYamlDocuments(readFileSync(yaml, 'utf8'));
  writeFileSync(json, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  const program = loadCompiledProgram(bundle);
  if (!program) throw new Error(`there is no bundle ${bundle}`);
  for (const sample of [
    ['-f', yaml],
    ['-f', json],
    ['-f', yaml, '-o', 'json'],
  ]) {
    const code = await program.runProgram(['plan', ...sample]);
    if (code !== 0) throw new Error(`planning ${sample.join(' ')} ended with ${code}`);
  }
  writeFileSync(compiledFile(bundle), program.compiled());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
