import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../src');

const sources = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => join(folder, file));

/** `local/` uses the texts of Kubernetes' own components; `kube/` has the recorder. */
const OTHERS = /^(local|kube)\//;

it('lets events leave the engine only as typed notices, which ledger/ puts into words', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !OTHERS.test(file),
  );
  const withRecorder = files.filter((file) => readFileSync(join(root, file), 'utf8').includes('/eventRecorder.ts'));
  expect(withRecorder.sort()).toEqual(['controllers/world/createWorld.ts', 'controllers/world/notices.ts']);
});

/** A literal message: `message: 'two words'`, or a template; not one taken from an error. */
const WORDS = /\bmessage(?:: | = )(?:'[^']* [^']*'|`)/;

/** A reason with words beside it. */
const REASON_WITH_WORDS = /\bReasons\.\w+,\s*(?:'[^']* [^']*'|`)/g;

it('words the conditions that loops and the provider set in ledger/ only', () => {
  const worded = [...sources('controllers'), join('azure', 'nodeClass.ts')].flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const lines = text.split('\n').filter((line) => WORDS.test(line) && !line.includes('new KubeError('));
    return [...lines, ...(text.match(REASON_WITH_WORDS) ?? [])].map((found) => `${file}: ${found.trim()}`);
  });
  expect(worded).toEqual([]);
});

/** Rooms that decide: their decisions are data, which ledger/ renders. */
const DECIDING = ['cluster', 'constraints', 'controllers', 'disruption', 'explain', 'plan', 'rehearsal', 'solver'];

/** Three words in a row. */
const SENTENCE = /[a-z]{2,} (?:[a-z]+|X) [a-z]{2,}/;

/** Calls whose words are not about a decision: logs, metrics beside their loop, errors, and the API server's own words. */
const OF_OTHERS = /(?:^|\.)(?:log|metrics)\.|(?:Error|includes)$/;

/** The help of metrics. */
const METRICS = /\/(?:metrics|disruptedCounter)\.ts$/;

/** A selector of labels is no sentence. */
const SELECTOR = /^app\.kubernetes\.io\//;

function sentencesIn(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      if (OF_OTHERS.test(node.expression.getText(source))) return;
    }
    const text = ts.isTemplateExpression(node)
      ? [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join(' X ')
      : ts.isStringLiteralLike(node)
        ? node.text
        : '';
    if (SENTENCE.test(text) && !SELECTOR.test(text)) found.push(`${file}: ${text}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

it('makes sentences of decisions in ledger/ only', () => {
  expect(
    DECIDING.flatMap(sources)
      .filter((file) => !METRICS.test(file))
      .flatMap(sentencesIn),
  ).toEqual([]);
});
