import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../src');

const sources = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => join(folder, file));

/** `local/` speaks as Kubernetes' own components do, in their words; `kube/` has the recorder. */
const OTHERS = /^(local|kube)\//;

it('lets events leave the engine only as typed notices, which ledger/ puts into words', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !OTHERS.test(file),
  );
  const withRecorder = files.filter((file) => readFileSync(join(root, file), 'utf8').includes('/eventRecorder.ts'));
  expect(withRecorder.sort()).toEqual(['controllers/world/createWorld.ts', 'controllers/world/notices.ts']);
});

/** A message that is written out: `message: 'two words'`, or a template; not one that an error brings. */
const WORDS = /\bmessage(?:: | = )(?:'[^']* [^']*'|`)/;

it('words the conditions that loops set in ledger/ only', () => {
  const worded = sources('controllers').flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .filter((line) => WORDS.test(line) && !line.includes('new KubeError('))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(worded).toEqual([]);
});
