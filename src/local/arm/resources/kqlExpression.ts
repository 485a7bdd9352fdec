/**
 * Expressions of the Kusto query language, as far as Resource Graph is asked with them. In: text. Out: functions from a
 * row to a value, or an error that says where the text went wrong.
 */
import { asText } from '../jsonPath.ts';

export type Row = Readonly<Record<string, unknown>>;
export type Expression = (row: Row) => unknown;

export class KqlError extends Error {
  override readonly name = 'KqlError';
}

interface Token {
  readonly kind: 'word' | 'text' | 'number' | 'sign';
  readonly value: string;
}

const TOKEN =
  /\s*(?:(@?"(?:[^"\\]|\\.)*"|@?'(?:[^'\\]|\\.)*')|(\d+(?:\.\d+)?)|(!?[A-Za-z_$][\w$]*(?:-[a-z]+)?~?)|(==|!=|=~|!~|<=|>=|[<>()[\].,|=*]))/y;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) {
      if (text.slice(from).trim() === '') break;
      throw new KqlError(`Unexpected '${text.slice(from).trim().slice(0, 20)}'`);
    }
    const [, quoted, number, word, sign] = match;
    if (quoted !== undefined) tokens.push({ kind: 'text', value: unquote(quoted) });
    else if (number !== undefined) tokens.push({ kind: 'number', value: number });
    else if (word !== undefined) tokens.push({ kind: 'word', value: word });
    else tokens.push({ kind: 'sign', value: sign ?? '' });
  }
  return tokens;
}

function unquote(text: string): string {
  if (text.startsWith('@')) return text.slice(2, -1);
  return text.slice(1, -1).replace(/\\(.)/g, (_all, next: string) => ESCAPES[next] ?? next);
}

/** Whole terms: nothing that belongs to a word may be beside them. */
function hasTerm(text: string, term: string): boolean {
  const isWord = (character: string | undefined): boolean => /[A-Za-z0-9]/.test(character ?? '');
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1)) {
    if (!isWord(text[at - 1]) && !isWord(text[at + term.length])) return true;
  }
  return false;
}

type Comparison = (left: string, right: string) => boolean;
const lower =
  (compare: Comparison): Comparison =>
  (left, right) =>
    compare(left.toLowerCase(), right.toLowerCase());
const contains: Comparison = (left, right) => left.includes(right);
const starts: Comparison = (left, right) => left.startsWith(right);
const ends: Comparison = (left, right) => left.endsWith(right);
const equal: Comparison = (left, right) => left === right;

const TEXT_OPERATORS: Readonly<Record<string, Comparison>> = {
  '==': equal,
  '=~': lower(equal),
  contains: lower(contains),
  contains_cs: contains,
  has: lower(hasTerm),
  has_cs: hasTerm,
  startswith: lower(starts),
  startswith_cs: starts,
  endswith: lower(ends),
  endswith_cs: ends,
};
const NEGATED: Readonly<Record<string, string>> = { '!=': '==', '!~': '=~' };
const NUMBER_OPERATORS: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  '<': (left, right) => left < right,
  '>': (left, right) => left > right,
  '<=': (left, right) => left <= right,
  '>=': (left, right) => left >= right,
};

const FUNCTIONS: Readonly<Record<string, (...values: readonly unknown[]) => unknown>> = {
  tolower: (value) => asText(value).toLowerCase(),
  toupper: (value) => asText(value).toUpperCase(),
  tostring: asText,
  toint: (value) => Number(value),
  isempty: (value) => asText(value) === '',
  isnotempty: (value) => asText(value) !== '',
  isnull: (value) => value === undefined || value === null,
  isnotnull: (value) => value !== undefined && value !== null,
  strlen: (value) => asText(value).length,
  array_length: (value) => (Array.isArray(value) ? value.length : null),
  strcat: (...values) => values.map(asText).join(''),
  split: (value, by) => asText(value).split(asText(by)),
  not: (value) => value !== true,
};

export class ExpressionParser {
  private readonly tokens: readonly Token[];
  private readonly columns: ReadonlySet<string>;
  private position = 0;

  constructor(tokens: readonly Token[], columns: ReadonlySet<string>) {
    this.tokens = tokens;
    this.columns = columns;
  }

  /** The whole of the tokens as one expression. */
  whole(): Expression {
    const expression = this.either();
    const rest = this.tokens[this.position];
    if (rest !== undefined) throw new KqlError(`Unexpected '${rest.value}'`);
    return expression;
  }

  private either(): Expression {
    let left = this.both();
    while (this.takeWord('or')) {
      const [first, second] = [left, this.both()];
      left = (row) => first(row) === true || second(row) === true;
    }
    return left;
  }

  private both(): Expression {
    let left = this.comparison();
    while (this.takeWord('and')) {
      const [first, second] = [left, this.comparison()];
      left = (row) => first(row) === true && second(row) === true;
    }
    return left;
  }

  private comparison(): Expression {
    const left = this.operand();
    const next = this.tokens[this.position];
    if (next === undefined) return left;
    const name = next.value.toLowerCase();
    const positive = NEGATED[name] ?? name.replace(/^!(?=\w)/, '');
    const wanted = positive === name;
    if (positive === 'in' || positive === 'in~') {
      this.position += 1;
      const values = this.list();
      const compare = positive === 'in' ? equal : lower(equal);
      return (row) => values.some((value) => compare(asText(left(row)), asText(value(row)))) === wanted;
    }
    const text = TEXT_OPERATORS[positive];
    const number = NUMBER_OPERATORS[name];
    if (text === undefined && number === undefined) return left;
    this.position += 1;
    const right = this.operand();
    if (number !== undefined) return (row) => number(Number(left(row)), Number(right(row)));
    return (row) => text?.(asText(left(row)), asText(right(row))) === wanted;
  }

  private operand(): Expression {
    const token = this.tokens[this.position];
    this.position += 1;
    if (token === undefined) throw new KqlError('The expression ends too early');
    if (token.kind === 'text') return () => token.value;
    if (token.kind === 'number') return () => Number(token.value);
    if (token.value === '(') {
      const inner = this.either();
      this.expect(')');
      return inner;
    }
    if (token.kind !== 'word') throw new KqlError(`Unexpected '${token.value}'`);
    if (token.value === 'true' || token.value === 'false') return () => token.value === 'true';
    if (this.tokens[this.position]?.value === '(') return this.call(token.value);
    return this.path(token.value);
  }

  private call(name: string): Expression {
    const known = FUNCTIONS[name.toLowerCase()];
    if (known === undefined) throw new KqlError(`Unknown function: '${name}'`);
    const values = this.list();
    return (row) => known(...values.map((value) => value(row)));
  }

  /** `properties.osProfile['computerName']` */
  private path(column: string): Expression {
    if (!this.columns.has(column)) throw new KqlError(`Failed to resolve scalar expression named '${column}'`);
    const steps: string[] = [];
    for (;;) {
      if (this.takeSign('.')) {
        steps.push(this.next().value);
      } else if (this.takeSign('[')) {
        steps.push(this.next().value);
        this.expect(']');
      } else break;
    }
    return (row) => steps.reduce(member, row[column]);
  }

  private list(): readonly Expression[] {
    this.expect('(');
    const values: Expression[] = [];
    while (!this.takeSign(')')) {
      values.push(this.either());
      if (!this.takeSign(',') && this.tokens[this.position]?.value !== ')') throw new KqlError("Expected ',' or ')'");
    }
    return values;
  }

  private next(): Token {
    const token = this.tokens[this.position];
    if (token === undefined) throw new KqlError('The expression ends too early');
    this.position += 1;
    return token;
  }

  private expect(sign: string): void {
    if (!this.takeSign(sign)) throw new KqlError(`Expected '${sign}'`);
  }

  private takeSign(sign: string): boolean {
    const token = this.tokens[this.position];
    if (token?.kind !== 'sign' || token.value !== sign) return false;
    this.position += 1;
    return true;
  }

  private takeWord(word: string): boolean {
    const token = this.tokens[this.position];
    if (token?.kind !== 'word' || token.value.toLowerCase() !== word) return false;
    this.position += 1;
    return true;
  }
}

function member(value: unknown, step: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Row)[step] : undefined;
}
