/** docs/errors.md: every code with its meaning, its data, an example message and what to do. */
import { errorGroups, type ErrorCode } from './catalogue.ts';
import type { ErrorEntry } from './errorEntry.ts';

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
    'about it. A command that was called wrongly ends with exit code 2, every other failure with 1. Answers of the',
    'Kubernetes API and of Azure keep their own formats and codes.',
    '',
    ...sections,
  ].join('\n')}\n`;
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
