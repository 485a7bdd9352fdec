/**
 * Parses the text form of label selectors, `a=b,c in (d,e),!f`. A refusal says in upstream's words what was found and
 * what would have been understood.
 */
import { labelValueProblems, qualifiedNameProblems } from './names.ts';
import { badRequest } from './status.ts';

type Operator = '=' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<';

export interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

interface Token {
  readonly kind: 'identifier' | 'symbol' | 'end';
  readonly text: string;
}

const END: Token = { kind: 'end', text: '' };
const SYMBOLS = new Set(['=', '==', '!=', '!', '(', ')', ',', '>', '<']);
const BINARY = ['in', 'notin', '=', '==', '!=', 'gt', 'lt'];

function tokens(text: string): Token[] {
  const found: Token[] = [];
  let index = 0;
  while (index < text.length) {
    const rest = text.slice(index);
    const space = /^\s+/.exec(rest)?.[0];
    const word = /^[^=!(),><\s]+/.exec(rest)?.[0];
    if (space !== undefined) index += space.length;
    else if (word === undefined) {
      const two = rest.slice(0, 2);
      const symbol = SYMBOLS.has(two) ? two : rest.slice(0, 1);
      found.push({ kind: 'symbol', text: symbol });
      index += symbol.length;
    } else {
      found.push({ kind: 'identifier', text: word });
      index += word.length;
    }
  }
  return found;
}

class Refused extends Error {}

class Parser {
  private readonly tokens: readonly Token[];
  private position = 0;

  constructor(text: string) {
    this.tokens = tokens(text);
  }

  requirements(): Requirement[] {
    const found: Requirement[] = [];
    for (;;) {
      const next = this.peek();
      if (next.kind === 'end') return found;
      if (next.kind !== 'identifier' && next.text !== '!') {
        throw new Refused(`found '${next.text}', expected: !, identifier, or 'end of string'`);
      }
      found.push(this.inRequirement());
      const after = this.take();
      if (after.kind === 'end') return found;
      if (after.text !== ',') throw new Refused(`found '${after.text}', expected: ',' or 'end of string'`);
      const following = this.peek();
      if (following.kind !== 'identifier' && following.text !== '!') {
        throw new Refused(`found '${following.text}', expected: identifier after ','`);
      }
    }
  }

  private inRequirement(): Requirement {
    try {
      return this.requirement();
    } catch (error) {
      if (error instanceof Refused) throw new Refused(`unable to parse requirement: ${error.message}`);
      throw error;
    }
  }

  private requirement(): Requirement {
    let token = this.take();
    const isNot = token.text === '!' && token.kind === 'symbol';
    if (isNot) token = this.take();
    if (token.kind !== 'identifier') throw new Refused(`found '${token.text}', expected: identifier`);
    const key = token.text;
    const [problem] = qualifiedNameProblems(key);
    if (problem !== undefined) throw new Refused(`<nil>: Invalid value: ${JSON.stringify(key)}: ${problem}`);
    const next = this.peek();
    if (next.kind === 'end' || next.text === ',') return { key, operator: isNot ? '!' : 'exists', values: [] };
    if (isNot) return { key, operator: '!', values: [] };
    return this.binary(key);
  }

  private binary(key: string): Requirement {
    const { text } = this.take();
    switch (text) {
      case 'in':
      case 'notin':
        return checked({ key, operator: text, values: this.set() });
      case '=':
      case '==':
        return checked({ key, operator: '=', values: [this.exact()] });
      case '!=':
      case '>':
      case '<':
        return checked({ key, operator: text, values: [this.exact()] });
      default:
        throw new Refused(`found '${text}', expected: ${BINARY.join(', ')}`);
    }
  }

  private exact(): string {
    const next = this.peek();
    if (next.kind === 'end' || next.text === ',') return '';
    const token = this.take();
    if (token.kind !== 'identifier') throw new Refused(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  private set(): string[] {
    const open = this.take();
    if (open.text !== '(') throw new Refused(`found '${open.text}' expected: '('`);
    const first = this.peek();
    if (first.text === ')') {
      this.take();
      return [''];
    }
    if (first.kind !== 'identifier' && first.text !== ',') {
      throw new Refused(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values = this.identifiers();
    if (this.take().text !== ')') throw new Refused(`found '${first.text}', expected: ')'`);
    return values;
  }

  private identifiers(): string[] {
    const values = new Set<string>();
    for (;;) {
      const token = this.take();
      const next = this.peek();
      if (token.kind === 'identifier') {
        values.add(token.text);
        if (next.text === ')') return [...values].sort();
        if (next.text !== ',') throw new Refused(`found '${next.text}', expected: ',' or ')'`);
      } else if (token.text === ',') {
        if (values.size === 0) values.add('');
        if (next.text === ')') return [...values.add('')].sort();
        if (next.text === ',') {
          this.take();
          values.add('');
        }
      } else throw new Refused(`found '${token.text}', expected: ',', or identifier`);
    }
  }

  private peek(): Token {
    return this.tokens[this.position] ?? END;
  }

  private take(): Token {
    const token = this.peek();
    this.position++;
    return token;
  }
}

function checked(requirement: Requirement): Requirement {
  const { key, operator, values } = requirement;
  values.forEach((value, index) => {
    const shown = JSON.stringify(value);
    if ((operator === '>' || operator === '<') && !/^[+-]?\d+$/.test(value)) {
      const why = "for 'Gt', 'Lt' operators, the value must be an integer";
      throw new Refused(`values[${index}]: Invalid value: ${shown}: ${why}`);
    }
    const [problem] = labelValueProblems(value);
    if (problem !== undefined) throw new Refused(`values[${index}][${key}]: Invalid value: ${shown}: ${problem}`);
  });
  return requirement;
}

export function parseRequirements(text: string): Requirement[] {
  try {
    return new Parser(text).requirements();
  } catch (error) {
    if (error instanceof Refused) throw badRequest(error.message);
    throw error;
  }
}
