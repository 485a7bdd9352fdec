/**
 * Go's regular expressions on JavaScript's engine: converts an RE2 pattern of CRDs and CEL rules to a RegExp that
 * matches the same texts. What RE2 does not support (look-around, back-references) is rejected as in RE2.
 */
import { linearFinder } from './linearFinder.ts';
import { linearMatcher } from './linearMatcher.ts';

interface Compiled {
  readonly expression: RegExp;
  readonly matches: (text: string) => boolean;
  /** Created on first use. */
  find?: (text: string, limit: number) => string[];
}

const COMPILED = new Map<string, Compiled>();
const MAX_COMPILED = 500;

/** Whether the pattern matches anywhere in the text, in linear time. Throws SyntaxError for invalid RE2. */
export function matchesPattern(pattern: string, text: string): boolean {
  return compiled(pattern).matches(text);
}

/** The matches in the text from the left, at most `limit` of them. */
export function findPattern(pattern: string, text: string, limit: number): string[] {
  const known = compiled(pattern);
  known.find ??= linearFinder(known.expression);
  return known.find(text, limit);
}

function compiled(pattern: string): Compiled {
  const known = COMPILED.get(pattern);
  if (known !== undefined) return known;
  const { source, flags } = translate(pattern);
  const expression = new RegExp(source, flags);
  const made: Compiled = { expression, matches: linearMatcher(expression) };
  if (COMPILED.size >= MAX_COMPILED) COMPILED.clear();
  COMPILED.set(pattern, made);
  return made;
}

/** RE2's `\s` has no vertical tab and no Unicode spaces. */
const SPACE = '\\t\\n\\f\\r ';

const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

const SYNTAX_CHARACTERS = /[\^$\\.*+?()[\]{}|/]/;

function translate(pattern: string): { source: string; flags: string } {
  let flags = 'u';
  let rest = pattern;
  const leading = /^\(\?([ims]+)\)/.exec(rest);
  if (leading !== null) {
    flags += leading[1] ?? '';
    rest = rest.slice(leading[0].length);
  }
  let source = '';
  let inClass = false;
  for (let at = 0; at < rest.length;) {
    const step: Step = inClass ? classStep(rest, at) : plainStep(rest, at);
    source += step.text;
    at = step.next;
    inClass = step.inClass;
  }
  return { source, flags: [...new Set(flags)].join('') };
}

interface Step {
  readonly text: string;
  readonly next: number;
  readonly inClass: boolean;
}

function plainStep(text: string, at: number): Step {
  const char = text.charAt(at);
  if (char === '\\') return escapeStep(text, at, false);
  if (char === '[') {
    const negated = text.charAt(at + 1) === '^';
    const start = at + (negated ? 2 : 1);
    // A bracket in first position is literal.
    const literal = text.charAt(start) === ']';
    return {
      text: `[${negated ? '^' : ''}${literal ? '\\]' : ''}`,
      next: start + (literal ? 1 : 0),
      inClass: true,
    };
  }
  if (text.startsWith('(?P<', at)) return { text: '(?<', next: at + 4, inClass: false };
  if (/^\(\?(?:[=!]|<[=!])/.test(text.slice(at, at + 4)))
    throw new SyntaxError(`look-around is not supported: ${text}`);
  if (char === '{' && !/^\{[0-9]+(?:,[0-9]*)?\}/.test(text.slice(at))) {
    return { text: '\\{', next: at + 1, inClass: false };
  }
  if (char === '}' && !/\{[0-9]+(?:,[0-9]*)?$/.test(text.slice(0, at))) {
    return { text: '\\}', next: at + 1, inClass: false };
  }
  if (char === ']') return { text: '\\]', next: at + 1, inClass: false };
  return { text: char, next: at + 1, inClass: false };
}

function classStep(text: string, at: number): Step {
  const char = text.charAt(at);
  if (char === ']') return { text: ']', next: at + 1, inClass: false };
  if (char === '\\') return escapeStep(text, at, true);
  const posix = /^\[:(\^?)([a-z]+):\]/.exec(text.slice(at));
  if (posix !== null) {
    const members = POSIX_CLASSES[posix[2] ?? ''];
    if (members === undefined || posix[1] === '^') throw new SyntaxError(`unsupported class ${posix[0]}`);
    return { text: members, next: at + posix[0].length, inClass: true };
  }
  return { text: char === '[' ? '\\[' : char, next: at + 1, inClass: true };
}

function escapeStep(text: string, at: number, inClass: boolean): Step {
  const char = text.charAt(at + 1);
  const step = (translated: string, length = 2): Step => ({ text: translated, next: at + length, inClass });
  if (char === '') throw new SyntaxError(`trailing backslash: ${text}`);
  switch (char) {
    case 's':
      return step(inClass ? SPACE : `[${SPACE}]`);
    case 'S':
      if (inClass) throw new SyntaxError('\\S inside a class is not supported');
      return step(`[^${SPACE}]`);
    case 'A':
      return step('(?<![\\s\\S])');
    case 'z':
      return step('(?![\\s\\S])');
    case 'a':
      return step('\\x07');
    case 'Q': {
      const end = text.indexOf('\\E', at);
      const literal = text.slice(at + 2, end < 0 ? undefined : end);
      const quoted = Array.from(literal)
        .map((each) => (SYNTAX_CHARACTERS.test(each) ? `\\${each}` : each))
        .join('');
      return step(quoted, (end < 0 ? text.length : end + 2) - at);
    }
    case 'x': {
      const long = /^\\x\{([0-9A-Fa-f]+)\}/.exec(text.slice(at));
      return long === null ? step(text.slice(at, at + 4), 4) : step(`\\u{${long[1] ?? ''}}`, long[0].length);
    }
    default:
      break;
  }
  if (/[1-9]/.test(char)) throw new SyntaxError(`back-references are not supported: ${text}`);
  if (/[dDwWbBtnvfrpP0]/.test(char)) return step(`\\${char}`);
  if (SYNTAX_CHARACTERS.test(char)) return step(`\\${char}`);
  if (char === '-' && inClass) return step('\\-');
  if (/[A-Za-z0-9]/.test(char)) throw new SyntaxError(`unknown escape \\${char}: ${text}`);
  return step(char);
}
