/** OData filters as Azure clients send them, such as `a eq 'x' and (contains(b, 'y') or c ne 'z')`. */
import type { ArmError } from '../armError.ts';
import { refusal } from '../refusal.ts';
import { ConditionParser, tokenize, type Condition } from './conditionParser.ts';

type Field = (name: string) => string | undefined;

const TOKEN = /\s*('(?:[^']|'')*'|[A-Za-z_][\w/]*|[(),]|-?\d+(?:\.\d+)?)/y;
const WORD = /^[A-Za-z_]/;
const TESTS: Readonly<Record<string, (text: string, part: string) => boolean>> = {
  eq: (left, right) => left === right,
  ne: (left, right) => left !== right,
};
const FUNCTIONS: Readonly<Record<string, (text: string, part: string) => boolean>> = {
  contains: (text, part) => text.includes(part),
  startswith: (text, part) => text.startsWith(part),
  endswith: (text, part) => text.endsWith(part),
};

const bare = (token: string): string => (token.startsWith("'") ? token.slice(1, -1).replaceAll("''", "'") : token);

/** Returns the pairs of `a eq 'x' and b eq 'y'`, in order. */
export function parseEqualities(filter: string): readonly (readonly [string, string])[] {
  if (filter.trim() === '') return [];
  return filter.split(/\s+and\s+/i).map((part) => {
    const [, field, value] = /^\s*(\w+)\s+eq\s+('(?:[^']|'')*')\s*$/i.exec(part) ?? [];
    if (field !== undefined && value !== undefined) return [field, bare(value)] as const;
    throw refusal('InvalidFilter.equalities', { filter });
  });
}

export function parseFilter(filter: string): Condition<Field> {
  if (filter.trim() === '') return () => true;
  const refuse = (): ArmError => refusal('InvalidFilter.odata', { filter });
  return new FilterParser(tokenize(filter, TOKEN, refuse), refuse).condition();
}

class FilterParser extends ConditionParser<Field> {
  protected comparison(): Condition<Field> {
    const name = this.next(WORD);
    const named = FUNCTIONS[name.toLowerCase()];
    if (named !== undefined && this.take('(')) {
      const field = this.next(WORD);
      this.expect(',');
      const part = bare(this.next(/^['\d-]/));
      this.expect(')');
      return (read) => named(read(field) ?? '', part);
    }
    const test = TESTS[this.next(/^(eq|ne)$/i).toLowerCase()];
    const value = bare(this.next(/^[^(),]/));
    return (read) => test?.(read(name) ?? '', value) ?? false;
  }
}
