/** OData filters as Azure clients send them, such as `a eq 'x' and (contains(b, 'y') or c ne 'z')`. */
import { ArmError } from '../armError.ts';

type Field = (name: string) => string | undefined;
export type Predicate = (field: Field) => boolean;

const TOKEN = /\s*(?:'((?:[^']|'')*)'|([A-Za-z_][\w/]*)|([(),])|(-?\d+(?:\.\d+)?))/y;
const COMPARISONS: Readonly<Record<string, (left: string, right: string) => boolean>> = {
  eq: (left, right) => left === right,
  ne: (left, right) => left !== right,
};
const FUNCTIONS: Readonly<Record<string, (text: string, part: string) => boolean>> = {
  contains: (text, part) => text.includes(part),
  startswith: (text, part) => text.startsWith(part),
  endswith: (text, part) => text.endsWith(part),
};

/** `a eq 'x' and b eq 'y'`: the pairs, in order. */
export function parseEqualities(filter: string): readonly (readonly [string, string])[] {
  if (filter.trim() === '') return [];
  return filter.split(/\s+and\s+/i).map((part) => {
    const [, field, value] = /^\s*(\w+)\s+eq\s+'((?:[^']|'')*)'\s*$/i.exec(part) ?? [];
    if (field !== undefined && value !== undefined) return [field, value.replaceAll("''", "'")] as const;
    throw new ArmError(400, 'InvalidFilter', `The filter '${filter}' is not of the form: field eq 'value' and …`);
  });
}

export function parseFilter(filter: string): Predicate {
  if (filter.trim() === '') return () => true;
  return new FilterParser(tokenize(filter), filter).whole();
}

interface Token {
  readonly kind: 'value' | 'word' | 'sign';
  readonly text: string;
}

function tokenize(filter: string): readonly Token[] {
  const tokens: Token[] = [];
  const text = filter.trim();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    if (match === null) throw invalid(filter);
    const [, quoted, word, sign, number] = match;
    if (quoted !== undefined) tokens.push({ kind: 'value', text: quoted.replaceAll("''", "'") });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign });
    else tokens.push({ kind: 'value', text: number ?? '' });
  }
  return tokens;
}

class FilterParser {
  private readonly tokens: readonly Token[];
  private readonly filter: string;
  private position = 0;

  constructor(tokens: readonly Token[], filter: string) {
    this.tokens = tokens;
    this.filter = filter;
  }

  whole(): Predicate {
    const predicate = this.either();
    if (this.position < this.tokens.length) throw invalid(this.filter);
    return predicate;
  }

  private either(): Predicate {
    let left = this.both();
    while (this.take('or')) {
      const [first, second] = [left, this.both()];
      left = (field) => first(field) || second(field);
    }
    return left;
  }

  private both(): Predicate {
    let left = this.single();
    while (this.take('and')) {
      const [first, second] = [left, this.single()];
      left = (field) => first(field) && second(field);
    }
    return left;
  }

  private single(): Predicate {
    if (this.take('(')) {
      const inner = this.either();
      this.expect(')');
      return inner;
    }
    const name = this.next('word');
    const named = FUNCTIONS[name.toLowerCase()];
    if (named !== undefined && this.take('(')) {
      const field = this.next('word');
      this.expect(',');
      const part = this.next('value');
      this.expect(')');
      return (read) => named(read(field) ?? '', part);
    }
    const compare = COMPARISONS[this.next('word').toLowerCase()];
    if (compare === undefined) throw invalid(this.filter);
    const value = this.valueOrWord();
    return (read) => compare(read(name) ?? '', value);
  }

  private valueOrWord(): string {
    const token = this.tokens[this.position];
    if (token === undefined || token.kind === 'sign') throw invalid(this.filter);
    this.position += 1;
    return token.text;
  }

  private next(kind: Token['kind']): string {
    const token = this.tokens[this.position];
    if (token?.kind !== kind) throw invalid(this.filter);
    this.position += 1;
    return token.text;
  }

  private expect(sign: string): void {
    if (!this.take(sign)) throw invalid(this.filter);
  }

  private take(text: string): boolean {
    const token = this.tokens[this.position];
    if (token === undefined || token.kind === 'value' || token.text.toLowerCase() !== text) return false;
    this.position += 1;
    return true;
  }
}

function invalid(filter: string): ArmError {
  return new ArmError(400, 'InvalidFilter', `Invalid OData filter: '${filter}'.`);
}
