import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const CONTROLLERS = join(ROOT, 'src/controllers');
/** What several loops share, by its subject. */
const SHARED: readonly string[] = ['claims', 'metrics', 'planning', 'world'];
/** Loops that decide only beside others: where they are tested, with the whole engine. */
const WITH_THE_ENGINE: Readonly<Record<string, string>> = {
  disruption: 'test/disruption',
  'placement-hints': 'test/simulation/placementHints.test.ts',
  'user-edits': 'test/thread/userEdits.test.ts',
};

it('each loop has a folder with its controller and the test of it', () => {
  const entries = readdirSync(CONTROLLERS, { withFileTypes: true });
  expect(entries.filter((entry) => !entry.isDirectory())).toEqual([]);
  const missing = entries
    .map(({ name }) => name)
    .filter((name) => !SHARED.includes(name))
    .flatMap((name) => {
      const own = join('src/controllers', name);
      return [join(own, 'controller.ts'), WITH_THE_ENGINE[name] ?? join(own, 'controller.test.ts')];
    })
    .filter((path) => !existsSync(join(ROOT, path)));
  expect(missing).toEqual([]);
});
