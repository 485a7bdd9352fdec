import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const PRIVATE_IDENTIFIER = /(?:this|\w+)\.#\w|^\s+(?:readonly |static |async |get |set |\*)*#\w+\s*[=(:;]/m;

it.each(['src', 'test', 'bench'])('%s declares private members with TypeScript’s keyword', (folder) => {
  const root = join(import.meta.dirname, '../..', folder);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  expect(files.filter((file) => PRIVATE_IDENTIFIER.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
});
