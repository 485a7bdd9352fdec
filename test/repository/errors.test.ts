import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** An error without a class tells neither its code nor what to do: a NodewrightError does, an InvariantError is a defect. */
const BARE = /throw new Error\(|throw Error\(|Promise\.reject\(new Error\(/;

/** The page in the browser has no catalogue: it shows what the server answered. */
const BROWSER = join('dashboard', 'page');

it('throws no error without a class', () => {
  const root = join(import.meta.dirname, '../../src');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith(BROWSER),
  );
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((file) => BARE.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});
