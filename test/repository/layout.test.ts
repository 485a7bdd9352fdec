import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

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

describe('docs/design.md', () => {
  const map = readFileSync(join(ROOT, 'docs/design.md'), 'utf8');
  const folders = (path: string): string[] =>
    readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

  it('has the rooms that there are, and no others', () => {
    const rooms = [...map.matchAll(/^\| `([a-z]+)\/` /gm)].map(([, room = '']) => room);
    expect(rooms.sort()).toEqual(folders(join(ROOT, 'src')).sort());
  });

  it('tells the walks of a pod and of a node in under two pages', () => {
    const walks = map.slice(map.indexOf('## The walk of a pod'), map.indexOf('## Rooms'));
    expect(walks).toContain('## The walk of a node');
    // 550 words fill a page.
    expect(walks.split(/\s+/).length).toBeLessThan(2 * 550);
  });

  it('names only files and folders that exist', () => {
    const there = ['src', 'test', 'docs', 'charts', 'bench'].flatMap((folder) => [
      folder,
      ...readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
    ]);
    const named = [...map.matchAll(/`([\w./-]+(?:\.(?:ts|md|json)|\/))`/g)].map(([, name = '']) =>
      name.replace(/\/$/, ''),
    );
    expect(named.length).toBeGreaterThan(100);
    const missing = named.filter(
      (name) => !existsSync(join(ROOT, name)) && !there.some((path) => path === name || path.endsWith(`/${name}`)),
    );
    expect(missing).toEqual([]);
  });
});
