/** docs/errors.md: every code with its meaning, its data, an example message and what to do. */
import { errorGroups, type ErrorCode } from './catalogue.ts';
import type { ErrorEntry } from './errorEntry.ts';
import { manifestMistakes, mistakeText, type MistakeCode, type MistakeData } from './manifestMistakes.ts';

export function renderErrorsMarkdown(): string {
  const sections = Object.entries(errorGroups).flatMap(([group, entries]) => [
    `## ${group}`,
    '',
    ...Object.entries(entries).flatMap(([code, entry]) => section(code as ErrorCode, entry as ErrorEntry<unknown>)),
  ]);
  return `${[
    '# Errors',
    '',
    '<!-- Written by scripts/generate-docs.ts from src/errors; change it there. -->',
    '',
    'Every error has a code that stays the same between versions, data that logs carry as JSON, and something to do',
    'about it. Commands print the code in brackets at the end. A command that was called wrongly ends with exit code 2,',
    'every other failure with 1. Answers of the Kubernetes API and of Azure keep their own formats and codes.',
    '',
    ...sections,
    '## Mistakes in manifests',
    '',
    'What `plan` and `convert` find in the manifests that they read. Each comes with its file and line; the other objects',
    'are read all the same.',
    '',
    ...Object.keys(manifestMistakes).flatMap((code) => mistakeSection(code as MistakeCode)),
  ].join('\n')}\n`;
}

function mistakeSection(code: MistakeCode): string[] {
  const { about, example } = manifestMistakes[code];
  const message = mistakeText(code, example, example as MistakeData<typeof code>);
  return [`### ${code}`, '', about, '', `- Example: \`${message.replaceAll('`', "'")}\``, ''];
}

function section(code: ErrorCode, { about, exit, where, what, remedy, example }: ErrorEntry<unknown>): string[] {
  const object = where?.(example);
  const message = object === undefined ? what(example) : `${object}: ${what(example)}`;
  const fields = Object.keys(example as object);
  return [
    `### ${code}`,
    '',
    about,
    '',
    ...(exit === 'usage' ? ['- Exit code: 2'] : []),
    ...(fields.length === 0 ? [] : [`- Data: ${fields.map((field) => `\`${field}\``).join(', ')}`]),
    `- Example: \`${message.replace(/\s*\n\s*/g, ' ').replaceAll('`', "'")}\``,
    `- What to do: ${remedy(example)}`,
    '',
  ];
}
