/** The expressions of ARM templates, such as `[concat(parameters('name'), '-', variables('tail')[0].id)]`. */
import { refusal } from '../refusal.ts';
import { tokenize } from '../server/conditionParser.ts';

export type Expression =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly Expression[] }
  | { readonly kind: 'member'; readonly of: Expression; readonly key: Expression };

const TOKEN = /\s*('(?:[^']|'')*'|-?\d+(?:\.\d+)?|[A-Za-z_][\w]*|[()[\],.?])/y;
const MAX_DEPTH = 100;

/** Returns the expression in a text; undefined for plain text, where `[[` stands for a first bracket. */
export function expressionIn(text: string): string | undefined {
  return text.startsWith('[') && text.endsWith(']') && !text.startsWith('[[') ? text.slice(1, -1) : undefined;
}

export function parseExpression(text: string): Expression {
  const tokens = tokenize(text, TOKEN, () => refusal('InvalidTemplate.unreadable', { text }));
  let at = 0;
  const fail = (): never => {
    throw refusal('InvalidTemplate.expression', { text, where: tokens[at] ?? 'its end' });
  };
  const expect = (token: string): void => {
    if (tokens[at] !== token) fail();
    at += 1;
  };
  const primary = (depth: number): Expression => {
    const token = tokens[at] ?? fail();
    at += 1;
    if (token.startsWith("'")) return { kind: 'value', value: token.slice(1, -1).replaceAll("''", "'") };
    if (/^-?\d/.test(token)) return { kind: 'value', value: Number(token) };
    if (!/^[A-Za-z_]/.test(token)) fail();
    expect('(');
    const args: Expression[] = [];
    while (tokens[at] !== ')') {
      if (args.length > 0) expect(',');
      args.push(whole(depth + 1));
    }
    expect(')');
    return { kind: 'call', name: token.toLowerCase(), args };
  };
  const whole = (depth: number): Expression => {
    if (depth > MAX_DEPTH) fail();
    let left = primary(depth);
    for (;;) {
      if (tokens[at] === '.') {
        at += 1;
        const name = tokens[at] ?? fail();
        at += 1;
        left = { kind: 'member', of: left, key: { kind: 'value', value: name } };
      } else if (tokens[at] === '[') {
        at += 1;
        left = { kind: 'member', of: left, key: whole(depth + 1) };
        expect(']');
      } else return left;
    }
  };
  const parsed = whole(0);
  if (at < tokens.length) fail();
  return parsed;
}
