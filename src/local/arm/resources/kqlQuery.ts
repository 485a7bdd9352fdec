/** The part of the Kusto query language with which clients list Azure resources: where, project, limit, take, count. */
import type { ArmError } from '../armError.ts';
import { refusal } from '../refusal.ts';
import { asText } from '../jsonPath.ts';
import { ConditionParser, tokenize, type Condition } from '../server/conditionParser.ts';

export type Row = Readonly<Record<string, unknown>>;

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\d+|!?[A-Za-z_]\w*~?|==|!=|=~|!~|[()[\].,|])/y;

export function invalidQuery(message: string): ArmError {
  const advice =
    'Please refer to the documentation for the Azure Resource Graph service and fix the error before retrying.';
  return refusal(
    'BadRequest.query',
    { message },
    {
      details: [
        { code: 'InvalidQuery', message: `Query is invalid. ${advice}` },
        { code: 'ParserFailure', message },
      ],
    },
  );
}

/** Whether the text has the term without a letter or digit next to it. */
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
class StageParser extends ConditionParser<Row> {
  private readonly columns: ReadonlySet<string>;

  constructor(tokens: readonly string[], columns: ReadonlySet<string>) {
    super(tokens, invalidQuery);
    this.columns = columns;
  }

  names(): readonly string[] {
    return this.whole(() => {
      const names = [this.column()];
      while (this.take(',')) names.push(this.column());
      return names;
    });
  }

  count(): number {
    return this.whole(() => Number(this.next(/^\d+$/)));
  }

  protected comparison(): Condition<Row> {
    const test = TESTS[this.peek().toLowerCase()];
    if (test !== undefined) {
      this.next();
      this.expect('(');
      const tested = this.path();
      this.expect(')');
      return (row) => test(tested(row));
    }
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
    if (compare === undefined) throw invalidQuery(`Unknown operator: '${name}'`);
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
    if (!this.columns.has(name)) throw invalidQuery(`Failed to resolve scalar expression named '${name}'`);
    return name;
  }

  private text(): string {
    return this.next(/^["']/).slice(1, -1).replace(/\\(.)/g, '$1');
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

/** Runs a query; its stages may name only the given columns. */
export function runQuery(query: string, rows: readonly Row[], columns: ReadonlySet<string>): readonly Row[] {
  const [table = [], ...stages] = split(tokenize(query, TOKEN, invalidQuery));
  if (table.join(' ').toLowerCase() !== 'resources') throw invalidQuery(`Unknown table: '${table.join(' ')}'`);
  return stages.reduce((left, [head = '', ...rest]) => {
    const stage = STAGES[head.toLowerCase()];
    if (stage === undefined) throw invalidQuery(`Unknown operator: '${head}'`);
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
