/** The part of the Kusto query language that clients list Azure resources with: where, project, limit, take, count. */
import { asText } from '../jsonPath.ts';

export type Row = Readonly<Record<string, unknown>>;
type Condition = (row: Row) => boolean;

export class KqlError extends Error {
  override readonly name = 'KqlError';
}

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\d+|!?[A-Za-z_]\w*~?|==|!=|=~|!~|[()[\].,|])/y;

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (text.slice(TOKEN.lastIndex).trim() !== '') {
    const from = TOKEN.lastIndex;
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined) throw new KqlError(`Unexpected '${text.slice(from).trim().slice(0, 20)}'`);
    tokens.push(token);
  }
  return tokens;
}

/** Whole terms: no letter or digit may be beside them. */
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
const equal: Comparison = (left, right) => left === right;
const CASED: Readonly<Record<string, Comparison>> = {
  contains: (left, right) => left.includes(right),
  has: hasTerm,
  startswith: (left, right) => left.startsWith(right),
  endswith: (left, right) => left.endsWith(right),
};
const OPERATORS: Readonly<Record<string, Comparison>> = {
  '==': equal,
  '=~': lower(equal),
  ...Object.fromEntries(
    Object.entries(CASED).flatMap(([name, compare]) => [[name, lower(compare)] as const, [`${name}_cs`, compare]]),
  ),
};
const NEGATED: Readonly<Record<string, string>> = { '!=': '==', '!~': '=~' };
const TESTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  isempty: (value) => asText(value) === '',
  isnotempty: (value) => asText(value) !== '',
};

/** Reads the tokens of one stage. */
class StageParser {
  private readonly tokens: readonly string[];
  private readonly columns: ReadonlySet<string>;
  private position = 0;

  constructor(tokens: readonly string[], columns: ReadonlySet<string>) {
    this.tokens = tokens;
    this.columns = columns;
  }

  condition(): Condition {
    return this.whole(() => this.either());
  }

  names(): readonly string[] {
    return this.whole(() => {
      const names = [this.column()];
      while (this.take(',')) names.push(this.column());
      return names;
    });
  }

  count(): number {
    return this.whole(() => {
      const text = this.next();
      if (!/^\d+$/.test(text)) throw new KqlError('Expected a number of rows');
      return Number(text);
    });
  }

  private whole<T>(read: () => T): T {
    const found = read();
    if (this.position < this.tokens.length) throw new KqlError(`Unexpected '${this.tokens[this.position] ?? ''}'`);
    return found;
  }

  private either(): Condition {
    const parts = [this.both()];
    while (this.take('or')) parts.push(this.both());
    return (row) => parts.some((part) => part(row));
  }

  private both(): Condition {
    const parts = [this.single()];
    while (this.take('and')) parts.push(this.single());
    return (row) => parts.every((part) => part(row));
  }

  private single(): Condition {
    const isNegated = this.take('not');
    if (this.take('(')) {
      const inner = this.either();
      this.expect(')');
      return (row) => inner(row) !== isNegated;
    }
    const test = TESTS[this.tokens[this.position]?.toLowerCase() ?? ''];
    if (test !== undefined) {
      this.position += 1;
      this.expect('(');
      const value = this.path();
      this.expect(')');
      return (row) => test(value(row)) !== isNegated;
    }
    return this.comparison();
  }

  private comparison(): Condition {
    const value = this.path();
    const name = this.next().toLowerCase();
    const positive = NEGATED[name] ?? name.replace(/^!/, '');
    const wanted = positive === name;
    if (positive === 'in' || positive === 'in~') {
      const compare = positive === 'in' ? equal : lower(equal);
      this.expect('(');
      const texts = [this.text()];
      while (this.take(',')) texts.push(this.text());
      this.expect(')');
      return (row) => texts.some((text) => compare(asText(value(row)), text)) === wanted;
    }
    const compare = OPERATORS[positive];
    if (compare === undefined) throw new KqlError(`Unknown operator: '${name}'`);
    const text = this.text();
    return (row) => compare(asText(value(row)), text) === wanted;
  }

  /** `properties.osProfile['computerName']` */
  private path(): (row: Row) => unknown {
    const steps = [this.column()];
    for (;;) {
      if (this.take('.')) steps.push(this.next());
      else if (this.take('[')) {
        steps.push(this.text());
        this.expect(']');
      } else break;
    }
    return (row) =>
      steps.reduce<unknown>(
        (value, step) => (typeof value === 'object' && value !== null ? (value as Row)[step] : undefined),
        row,
      );
  }

  private column(): string {
    const name = this.next();
    if (!this.columns.has(name)) throw new KqlError(`Failed to resolve scalar expression named '${name}'`);
    return name;
  }

  private text(): string {
    const token = this.next();
    if (!/^["']/.test(token)) throw new KqlError(`Unexpected '${token}'`);
    return token.slice(1, -1).replace(/\\(.)/g, '$1');
  }

  private next(): string {
    const token = this.tokens[this.position];
    if (token === undefined) throw new KqlError('The expression ends too early');
    this.position += 1;
    return token;
  }

  private take(token: string): boolean {
    if (this.tokens[this.position]?.toLowerCase() !== token) return false;
    this.position += 1;
    return true;
  }

  private expect(token: string): void {
    if (!this.take(token)) throw new KqlError(`Expected '${token}'`);
  }
}

type Stage = (rows: readonly Row[], parser: StageParser) => readonly Row[];

const limit: Stage = (rows, parser) => rows.slice(0, parser.count());
const STAGES: Readonly<Record<string, Stage>> = {
  where: (rows, parser) => rows.filter(parser.condition()),
  project: (rows, parser) => {
    const names = parser.names();
    return rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
  },
  limit,
  take: limit,
  count: (rows) => [{ Count: rows.length }],
};

/** `columns` are those of the table's rows; a stage may name only them. */
export function runQuery(query: string, rows: readonly Row[], columns: ReadonlySet<string>): readonly Row[] {
  const [table = [], ...stages] = split(tokenize(query));
  if (table.join(' ').toLowerCase() !== 'resources') throw new KqlError(`Unknown table: '${table.join(' ')}'`);
  return stages.reduce((left, [head = '', ...rest]) => {
    const stage = STAGES[head.toLowerCase()];
    if (stage === undefined) throw new KqlError(`Unknown operator: '${head}'`);
    return stage(left, new StageParser(rest, columns));
  }, rows);
}

function split(tokens: readonly string[]): string[][] {
  const parts: string[][] = [[]];
  for (const token of tokens) {
    if (token === '|') parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}
