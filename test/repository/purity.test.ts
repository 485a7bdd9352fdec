import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

/** Rooms that must give the same output for the same input: no I/O, timers, clocks, randomness or environment. */
const pureRooms = [
  'errors',
  'units',
  'api',
  'pods',
  'constraints',
  'cloud',
  'catalogue',
  'solver',
  'plan',
  'convert',
  'cluster',
  'disruption',
  'ledger',
  'options',
];
const purePackages = new Set(['js-yaml', '@marcbachmann/cel-js']);
const impureGlobals = new Set([
  'process',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'fetch',
  'crypto',
  'globalThis',
  'console',
]);

function impurities(fileName: string, text: string): string[] {
  const found: string[] = [];
  const source = ts.createSourceFile(fileName, text, ts.ScriptTarget.ES2023, true);
  const report = (node: ts.Node, what: string): void => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    found.push(`${fileName}:${line + 1} ${what}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && !node.importClause?.isTypeOnly && ts.isStringLiteral(node.moduleSpecifier)) {
      const name = node.moduleSpecifier.text;
      if (!name.startsWith('.') && !purePackages.has(name)) report(node, `imports ${name}`);
    }
    if (ts.isPropertyAccessExpression(node)) {
      const text = node.getText();
      if (text === 'Date.now' || text === 'Math.random') report(node, text);
    }
    if (ts.isNewExpression(node) && node.expression.getText() === 'Date' && !node.arguments?.length) {
      report(node, 'new Date()');
    }
    if (ts.isIdentifier(node) && impureGlobals.has(node.text)) {
      const { parent } = node;
      const isMember = ts.isPropertyAccessExpression(parent) && parent.name === node;
      const isName = 'name' in parent && parent.name === node;
      const isReference = ts.isExpression(node) && !isMember && !isName && !ts.isTypeNode(parent);
      if (isReference) report(node, node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

describe('pure rooms', () => {
  it('notices each kind of impurity', () => {
    const text = [
      "import { readFileSync } from 'node:fs';",
      'const a = Date.now();',
      'const b = new Date();',
      'const c = Math.random();',
      'const d = process.env;',
      'setTimeout(() => undefined, 1);',
      'const fine = { process: 1 }; const alsoFine = fine.process; const date = new Date(5);',
    ].join('\n');
    expect(impurities('sample.ts', text)).toEqual([
      'sample.ts:1 imports node:fs',
      'sample.ts:2 Date.now',
      'sample.ts:3 new Date()',
      'sample.ts:4 Math.random',
      'sample.ts:5 process',
      'sample.ts:6 setTimeout',
    ]);
  });

  it.each(pureRooms)('%s never reaches for the world', (room) => {
    const folder = join(import.meta.dirname, '../../src', room);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
    );
    expect(files.flatMap((file) => impurities(file, readFileSync(join(folder, file), 'utf8')))).toEqual([]);
  });
});
