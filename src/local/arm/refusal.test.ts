import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { aksRefusal } from './containerservice/aksRefusal.ts';
import aks from './containerservice/refusals.json' with { type: 'json' };
import { refusal } from './refusal.ts';
import arm from './refusals.json' with { type: 'json' };

const LOCAL = join(import.meta.dirname, '..');

interface Call {
  readonly file: string;
  readonly keys: readonly string[];
  /** Of the values that are handed over. */
  readonly names: readonly string[];
}

/** The texts that an expression can be: one, or one of two by a condition. */
function textsOf(node: ts.Node | undefined): readonly string[] {
  if (node === undefined) return [];
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap(textsOf);
  if (ts.isStringLiteral(node)) return [node.text];
  if (!ts.isIdentifier(node)) return [];
  // A constant of the same file.
  const found: string[] = [];
  const visit = (each: ts.Node): void => {
    each.forEachChild(visit);
    if (ts.isVariableDeclaration(each) && each.name.getText() === node.text) found.push(...textsOf(each.initializer));
  };
  visit(node.getSourceFile());
  return found;
}

/** The calls of a function in the sources. */
function calls(name: string): readonly Call[] {
  const files = readdirSync(LOCAL, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.test)\.ts$/.test(file),
  );
  const found: Call[] = [];
  for (const file of files) {
    const visit = (node: ts.Node): void => {
      node.forEachChild(visit);
      if (!ts.isCallExpression(node) || node.expression.getText() !== name) return;
      const [key, values] = node.arguments;
      const given = values !== undefined && ts.isObjectLiteralExpression(values) ? values.properties : [];
      found.push({ file, keys: textsOf(key), names: given.map((property) => property.name?.getText() ?? '') });
    };
    const text = readFileSync(join(LOCAL, file), 'utf8');
    if (text.includes(`/${name}.ts'`) || file.endsWith(`/${name}.ts`)) {
      visit(ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true));
    }
  }
  return found;
}

const placeholders = (texts: readonly string[]): string[] => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))),
];

describe.each([
  ['refusal', arm],
  ['aksRefusal', aks],
] as const)('%s', (name, table: Readonly<Record<string, { message: string; target?: string }>>) => {
  it('has the values of all its placeholders, and no other', () => {
    for (const { file, keys, names } of calls(name)) {
      expect([file, keys]).not.toEqual([file, []]);
      for (const key of keys) {
        const { message = '', target = '' } = table[key] ?? {};
        expect([file, key, [...names].sort()]).toEqual([file, key, placeholders([message, target]).sort()]);
      }
    }
  });

  it('uses every row', () => {
    const used = new Set(calls(name).flatMap(({ keys }) => keys));
    expect(Object.keys(table).filter((key) => !used.has(key))).toEqual([]);
  });
});

it('fills in the values, and answers with the code before the dot', () => {
  const error = refusal('NotFound.disk', { id: '/d' });
  expect([error.status, error.toBody()]).toEqual([
    404,
    { error: { code: 'NotFound', message: "Disk '/d' was not found.", target: 'dataDisk.managedDisk.id' } },
  ]);
});

it('names the target by the values, and is bare where it comes from AKS', () => {
  const error = aksRefusal('PropertyChangeNotAllowed', { property: 'properties.a' });
  expect([error.status, error.toBody()]).toEqual([
    400,
    {
      code: 'PropertyChangeNotAllowed',
      message: "Changing property 'properties.a' is not allowed.",
      target: 'properties.a',
    },
  ]);
});
