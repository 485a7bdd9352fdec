import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { refusal } from './refusal.ts';
import refusals from './refusals.json' with { type: 'json' };

const LOCAL = join(import.meta.dirname, '..');

/** The calls in the sources: file, key, and the names of the values that are handed over. */
function calls(): (readonly [file: string, key: string, names: readonly string[]])[] {
  const files = readdirSync(LOCAL, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.test)\.ts$/.test(file),
  );
  const found: (readonly [string, string, readonly string[]])[] = [];
  for (const file of files) {
    const visit = (node: ts.Node): void => {
      node.forEachChild(visit);
      if (!ts.isCallExpression(node) || node.expression.getText() !== 'refusal') return;
      const [key, values] = node.arguments;
      const given = values !== undefined && ts.isObjectLiteralExpression(values) ? values.properties : [];
      const names = given.map((property) => property.name?.getText() ?? '');
      found.push([file, key !== undefined && ts.isStringLiteral(key) ? key.text : '', names]);
    };
    const text = readFileSync(join(LOCAL, file), 'utf8');
    if (text.includes("/refusal.ts'")) visit(ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true));
  }
  return found;
}

const placeholders = (message: string): string[] => [
  ...new Set([...message.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)),
];

it('has the values of all its placeholders, and no other', () => {
  for (const [file, key, names] of calls()) {
    const { message } = refusals[key as keyof typeof refusals];
    expect([file, key, [...names].sort()]).toEqual([file, key, placeholders(message).sort()]);
  }
});

it('uses every refusal', () => {
  const used = new Set(calls().map(([, key]) => key));
  expect(Object.keys(refusals).filter((key) => !used.has(key))).toEqual([]);
});

it('fills in the values, and answers with the code before the dot', () => {
  const error = refusal('NotFound.disk', { id: '/d' }, { target: 'disk' });
  expect([error.status, error.toBody()]).toEqual([
    404,
    { error: { code: 'NotFound', message: "Disk '/d' was not found.", target: 'disk' } },
  ]);
});
