import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const ROW = /^\| .+? \| `([^`]+)`: (.+?) +\|$/gm;

describe('docs/coverage.md', () => {
  const text = readFileSync(join(ROOT, 'docs/coverage.md'), 'utf8');
  const rows = [...text.matchAll(ROW)];

  it('has rows', () => {
    expect(rows.length).toBeGreaterThan(20);
  });

  it('names tests that are there', () => {
    const missing = rows.filter(
      ([, file = '', title = '']) =>
        !existsSync(join(ROOT, file)) || !readFileSync(join(ROOT, file), 'utf8').includes(title.trim()),
    );
    // A test that has moved to another file is still there.
    const tests = ['src', 'test'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.test.ts'))
        .map((name) => join(ROOT, folder, name)),
    );
    const gone = missing.filter(
      ([, , title = '']) => !tests.some((file) => readFileSync(file, 'utf8').includes(title.trim())),
    );
    expect(gone.map(([, file, title]) => `${file}: ${title}`)).toEqual([]);
  });

  /** How many statements each document makes. */
  const statements = { '000': 71, '001': 29, '002': 60, '003': 43, '004': 22 };
  const numbered = [...text.matchAll(/^\| (\d{3})-(\d\d) +\| (.+?) +\| (.+?) +\|$/gm)];

  it('has every statement of the documents once', () => {
    const expected = Object.entries(statements).flatMap(([document, count]) =>
      Array.from({ length: count }, (_, index) => `${document}-${String(index + 1).padStart(2, '0')}`),
    );
    expect(numbered.map(([, document, number]) => `${document}-${number}`)).toEqual(expected);
  });

  it('says of each what holds it, or why nothing does', () => {
    const unheld = numbered.filter(([, , , , held = '']) => {
      const [, page] = /^page `([^`]+)`$/.exec(held) ?? [];
      if (page !== undefined) return !existsSync(join(ROOT, page));
      return !/^`[^`]+`: ./.test(held) && !/^not done: .{10}/.test(held);
    });
    expect(unheld.map(([row]) => row)).toEqual([]);
  });
});
