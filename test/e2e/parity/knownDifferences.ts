/**
 * The accepted differences, read from docs/local-api-parity.md; each row names a script, the place in the answers (a
 * path, `*` stands for anything) and the reason.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Difference } from './normalise.ts';

export interface KnownDifference {
  readonly script: string;
  readonly place: string;
  readonly reason: string;
}

const DOCUMENT = join(import.meta.dirname, '../../../docs/local-api-parity.md');

export function readKnownDifferences(heading: string): readonly KnownDifference[] {
  const text = readFileSync(DOCUMENT, 'utf8');
  const section = text.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const [, script = '', place = '', reason = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
      return { script: unquoted(script), place: unquoted(place), reason };
    });
}

function unquoted(cell: string): string {
  return cell.replaceAll('`', '').replaceAll('\\|', '|');
}

export function covers(known: KnownDifference, script: string, difference: Difference): boolean {
  return (
    matches(known.script, script) && (matches(known.place, difference.path) || isBelow(known.place, difference.path))
  );
}

function isBelow(place: string, path: string): boolean {
  return ['.', '['].some((next) => matches(`${place}${next}*`, path));
}

function matches(pattern: string, text: string): boolean {
  const source = pattern.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${source.join('.*')}$`).test(text);
}
