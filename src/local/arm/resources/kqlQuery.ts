/**
 * Queries of Resource Graph: `Resources | where … | project …`. In: the text, and the rows of each table. Out: the rows
 * that the stages leave, and the columns they have.
 */
import { asText } from '../jsonPath.ts';
import { ExpressionParser, KqlError, tokenize, type Expression, type Row } from './kqlExpression.ts';

export interface Table {
  readonly rows: readonly Row[];
  readonly columns: readonly string[];
}

type Token = ReturnType<typeof tokenize>[number];
type Stage = (table: Table, tokens: readonly Token[]) => Table;

const STAGES: Readonly<Record<string, Stage>> = {
  where: (table, tokens) => {
    const condition = parse(tokens, table);
    return { ...table, rows: table.rows.filter((row) => condition(row) === true) };
  },
  project: (table, tokens) => {
    const columns = assignments(tokens, table);
    return {
      columns: columns.map(([name]) => name),
      rows: table.rows.map((row) => Object.fromEntries(columns.map(([name, value]) => [name, value(row)]))),
    };
  },
  extend: (table, tokens) => {
    const columns = assignments(tokens, table);
    return {
      columns: [...new Set([...table.columns, ...columns.map(([name]) => name)])],
      rows: table.rows.map((row) => ({
        ...row,
        ...Object.fromEntries(columns.map(([name, value]) => [name, value(row)])),
      })),
    };
  },
  'project-away': (table, tokens) => {
    const names = new Set(splitAt(tokens, ',').map(([token]) => token?.value ?? ''));
    const columns = table.columns.filter((column) => !names.has(column));
    return { columns, rows: table.rows.map((row) => pick(row, columns)) };
  },
  order: ordered,
  sort: ordered,
  limit: (table, tokens) => ({ ...table, rows: table.rows.slice(0, countOf(tokens)) }),
  take: (table, tokens) => ({ ...table, rows: table.rows.slice(0, countOf(tokens)) }),
  top: (table, tokens) => {
    const sorted = ordered(table, tokens.slice(1));
    return { ...sorted, rows: sorted.rows.slice(0, countOf(tokens.slice(0, 1))) };
  },
  count: ({ rows }) => ({ columns: ['Count'], rows: [{ Count: rows.length }] }),
  distinct: (table, tokens) => {
    const columns = assignments(tokens, table);
    const seen = new Map<string, Row>();
    for (const row of table.rows) {
      const values = Object.fromEntries(columns.map(([name, value]) => [name, value(row)]));
      seen.set(JSON.stringify(values), values);
    }
    return { columns: columns.map(([name]) => name), rows: [...seen.values()] };
  },
  summarize: (table, tokens) => {
    const by = tokens.findIndex((token) => token.kind === 'word' && token.value.toLowerCase() === 'by');
    const [head, tail] = by < 0 ? [tokens, []] : [tokens.slice(0, by), tokens.slice(by + 1)];
    const named = /^(?:(\w+)=)?count\(\)$/i.exec(head.map(({ value }) => value).join(''));
    if (named === null) throw new KqlError('Only count() can be summarized here');
    const keys = tail.length === 0 ? [] : assignments(tail, table);
    const name = named[1] ?? 'count_';
    const groups = new Map<string, Record<string, unknown>>();
    for (const row of table.rows) {
      const values = Object.fromEntries(keys.map(([key, value]) => [key, value(row)]));
      const group = groups.get(JSON.stringify(values)) ?? { ...values, [name]: 0 };
      group[name] = Number(group[name]) + 1;
      groups.set(JSON.stringify(values), group);
    }
    const rows = keys.length === 0 && groups.size === 0 ? [{ [name]: 0 }] : [...groups.values()];
    return { columns: [...keys.map(([key]) => key), name], rows };
  },
};

/** `tables` by lower-case name. */
export function runQuery(query: string, tables: Readonly<Record<string, () => Table>>): Table {
  const [head = [], ...stages] = splitAt(tokenize(query), '|');
  const name = head.map(({ value }) => value).join('');
  const table = tables[name.toLowerCase()];
  if (table === undefined) throw new KqlError(`Unknown table: '${name}'`);
  return stages.reduce((rows, [verb, ...tokens]) => {
    const stage = STAGES[verb?.value.toLowerCase() ?? ''];
    if (stage === undefined) throw new KqlError(`Unknown operator: '${verb?.value ?? ''}'`);
    return stage(rows, tokens);
  }, table());
}

function parse(tokens: readonly Token[], { columns }: Table): Expression {
  return new ExpressionParser(tokens, new Set(columns)).whole();
}

/** `a, b = tolower(c)` */
function assignments(tokens: readonly Token[], table: Table): readonly (readonly [string, Expression])[] {
  return splitAt(tokens, ',').map((part) => {
    const [name, equals, ...rest] = part;
    if (name?.kind === 'word' && equals?.value === '=') return [name.value, parse(rest, table)] as const;
    const path = part.map(({ value }) => value);
    return [path.filter((step) => /^\w/.test(step)).join('_'), parse(part, table)] as const;
  });
}

function ordered(table: Table, tokens: readonly Token[]): Table {
  const [by, ...rest] = tokens;
  if (by?.value.toLowerCase() !== 'by') throw new KqlError("Expected 'by'");
  const keys = splitAt(rest, ',').map((part) => {
    const direction = part.at(-1)?.value.toLowerCase();
    const directed = direction === 'asc' || direction === 'desc';
    return { value: parse(directed ? part.slice(0, -1) : part, table), sign: direction === 'asc' ? 1 : -1 };
  });
  const compare = (left: Row, right: Row): number => {
    for (const { value, sign } of keys) {
      const [first, second] = [value(left), value(right)];
      const numeric = typeof first === 'number' && typeof second === 'number';
      const difference = numeric
        ? first - second
        : asText(first) < asText(second)
          ? -1
          : asText(first) > asText(second)
            ? 1
            : 0;
      if (difference !== 0) return sign * difference;
    }
    return 0;
  };
  return { ...table, rows: table.rows.toSorted(compare) };
}

/** Parts between separators that are not inside brackets. */
function splitAt(tokens: readonly Token[], separator: string): Token[][] {
  const parts: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token.kind === 'sign' && '(['.includes(token.value)) depth += 1;
    if (token.kind === 'sign' && ')]'.includes(token.value)) depth -= 1;
    if (depth === 0 && token.kind === 'sign' && token.value === separator) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

function countOf(tokens: readonly Token[]): number {
  const [token] = tokens;
  if (token?.kind !== 'number') throw new KqlError('Expected a number of rows');
  return Number(token.value);
}

function pick(row: Row, columns: readonly string[]): Row {
  return Object.fromEntries(columns.map((column) => [column, row[column]]));
}
