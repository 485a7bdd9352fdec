import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const ROW = /^\| .+? \| `([^`]+)`: (.+?) +\|$/gm;

describe('docs/coverage.md', () => {
  const rows = [...readFileSync(join(ROOT, 'docs/coverage.md'), 'utf8').matchAll(ROW)];

  it('has rows', () => {
    expect(rows.length).toBeGreaterThan(20);
  });

  it.each(rows.map(([, file = '', title = '']) => [file, title.trim()]))('names a test of %s: %s', (file, title) => {
    expect(readFileSync(join(ROOT, file), 'utf8')).toContain(title);
  });
});
