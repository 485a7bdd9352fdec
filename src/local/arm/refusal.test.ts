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
  /** Names of the values that the call passes. */
  readonly names: readonly string[];
}

/** Returns the texts that an expression can evaluate to: two for a conditional expression. */
function textsOf(node: ts.Node | undefined): readonly string[] {
  if (node === undefined) return [];
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap(textsOf);
  if (ts.isStringLiteral(node)) return [node.text];
  if (!ts.isIdentifier(node)) return [];
  // The identifier is a constant of the same file.
  const found: string[] = [];
  const visit = (each: ts.Node): void => {
    each.forEachChild(visit);
    if (ts.isVariableDeclaration(each) && each.name.getText() === node.text) found.push(...textsOf(each.initializer));
  };
  visit(node.getSourceFile());
  return found;
}

/** Returns all calls of a function in the sources. */
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
  it('is called with exactly the values of its placeholders', () => {
    for (const { file, keys, names } of calls(name)) {
      expect([file, keys]).not.toEqual([file, []]);
      for (const key of keys) {
        const { message = '', target = '' } = table[key] ?? {};
        expect([file, key, [...names].sort()]).toEqual([file, key, placeholders([message, target]).sort()]);
      }
    }
  });

  it('has no unused row', () => {
    const used = new Set(calls(name).flatMap(({ keys }) => keys));
    expect(Object.keys(table).filter((key) => !used.has(key))).toEqual([]);
  });
});

it('fills in the values, and takes the code before the dot of its key', () => {
  const error = refusal('NotFound.disk', { id: '/d' });
  expect([error.status, error.toBody()]).toEqual([
    404,
    { error: { code: 'NotFound', message: "Disk '/d' was not found.", target: 'dataDisk.managedDisk.id' } },
  ]);
});

it('fills in the target, and has no `error` around errors of AKS', () => {
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
