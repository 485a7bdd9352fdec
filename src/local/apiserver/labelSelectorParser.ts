/**
 * Parses the text form of label selectors, `a=b,c in (d,e),!f`. Errors have upstream's messages, which name the text
 * found and the text expected.
 */
import { labelValueProblems, qualifiedNameProblems } from './names.ts';
import { badRequest } from './status.ts';

type Operator = '=' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<';

export interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

const TOKEN = /[^=!(),><\s]+|==|!=|\S/g;
const BINARY = ['in', 'notin', '=', '==', '!=', 'gt', 'lt'];
const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ...(['in', 'notin', '=', '!=', '>', '<'] as const).map((one) => [one, one] as const),
  ['==', '='],
]);

/** Past the last token, `peek` and `take` return ''. */
const isEnd = (token: string): boolean => token === '';
const isWord = (token: string): boolean => /^[^=!(),><]/.test(token);
const expected = (found: string, wanted: string): Error => badRequest(`found '${found}', expected: ${wanted}`);
/** Errors within a requirement have this prefix. */
const unparsed = (why: string): Error => badRequest(`unable to parse requirement: ${why}`);
const within = (found: string, wanted: string): Error => unparsed(`found '${found}', expected: ${wanted}`);

class Parser {
  private readonly tokens: readonly string[];
  private position = 0;

  constructor(text: string) {
    this.tokens = text.match(TOKEN) ?? [];
  }

  requirements(): Requirement[] {
    const found: Requirement[] = [];
    for (;;) {
      if (isEnd(this.peek())) return found;
      if (!this.beginsRequirement()) throw expected(this.peek(), "!, identifier, or 'end of string'");
      found.push(this.requirement());
      const after = this.take();
      if (isEnd(after)) return found;
      if (after !== ',') throw expected(after, "',' or 'end of string'");
      if (!this.beginsRequirement()) throw expected(this.peek(), "identifier after ','");
    }
  }

  private beginsRequirement(): boolean {
    return isWord(this.peek()) || this.peek() === '!';
  }

  private requirement(): Requirement {
    const isNot = this.peek() === '!';
    if (isNot) this.take();
    const key = this.take();
    if (!isWord(key)) throw within(key, 'identifier');
    const [problem] = qualifiedNameProblems(key);
    if (problem !== undefined) throw unparsed(`<nil>: Invalid value: ${JSON.stringify(key)}: ${problem}`);
    if (isNot) return { key, operator: '!', values: [] };
    if (isEnd(this.peek()) || this.peek() === ',') return { key, operator: 'exists', values: [] };
    const text = this.take();
    const operator = OPERATORS.get(text);
    if (operator === undefined) throw within(text, BINARY.join(', '));
    const values = operator === 'in' || operator === 'notin' ? this.set() : [this.exact()];
    checkValues(key, operator, values);
    return { key, operator, values };
  }

  private exact(): string {
    if (isEnd(this.peek()) || this.peek() === ',') return '';
    const token = this.take();
    if (!isWord(token)) throw within(token, 'identifier');
    return token;
  }

  private set(): string[] {
    const open = this.take();
    if (open !== '(') throw unparsed(`found '${open}' expected: '('`);
    const first = this.peek();
    if (first !== ')' && first !== ',' && !isWord(first)) throw within(first, "',', ')' or identifier");
    const values = new Set<string>();
    if (first === ')') values.add('');
    while (this.peek() !== ')') {
      const token = this.take();
      const next = this.peek();
      if (isWord(token)) {
        values.add(token);
        if (next !== ')' && next !== ',') throw within(next, "',' or ')'");
      } else if (token === ',') {
        if (values.size === 0 || next === ')' || next === ',') values.add('');
        if (next === ',') this.take();
      } else throw within(token, "',', or identifier");
    }
    this.take();
    return [...values].sort();
  }

  private peek(): string {
    return this.tokens[this.position] ?? '';
  }

  private take(): string {
    return this.tokens[this.position++] ?? '';
  }
}

function checkValues(key: string, operator: Operator, values: readonly string[]): void {
  values.forEach((value, index) => {
    const shown = `Invalid value: ${JSON.stringify(value)}`;
    if ((operator === '>' || operator === '<') && !/^[+-]?\d+$/.test(value)) {
      throw unparsed(`values[${index}]: ${shown}: for 'Gt', 'Lt' operators, the value must be an integer`);
    }
    const [problem] = labelValueProblems(value);
    if (problem !== undefined) throw unparsed(`values[${index}][${key}]: ${shown}: ${problem}`);
  });
}

export function parseRequirements(text: string): Requirement[] {
  return new Parser(text).requirements();
}
