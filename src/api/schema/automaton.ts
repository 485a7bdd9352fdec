/**
 * Regular expressions as automata, for matching in linear time, as in RE2: a backtracking engine takes exponential time
 * for `(a+)+$` and a few dozen letters. Works on the JavaScript form of RE2's syntax, which has neither look-around nor
 * back-references.
 */
type Part =
  | { readonly type: 'character'; readonly accepts: (character: string) => boolean }
  | { readonly type: 'assertion'; readonly holds: Assertion }
  | { readonly type: 'sequence' | 'choice'; readonly parts: readonly Part[] }
  | {
      readonly type: 'repeat';
      readonly part: Part;
      readonly least: number;
      readonly most: number;
      /** Prefers as few repetitions as possible. */
      readonly lazy: boolean;
    };

/** A test of the characters before and after a position; undefined at the ends of the text. */
type Assertion = (before: string | undefined, after: string | undefined) => boolean;

/** A state: its successors, reached by a character, by an assertion, or directly; in order of preference. */
interface State {
  readonly accepts?: (character: string) => boolean;
  readonly holds?: Assertion;
  readonly next: number[];
}

export const MATCH = 0;
const MAX_STATES = 20_000;
export const isWord = (character: string | undefined): boolean => character !== undefined && /\w/.test(character);
const ATOM =
  /\(\?<!\[\\s\\S\]\)|\(\?!\[\\s\\S\]\)|\[(?:[^\]\\]|\\.)*\]|\\u\{[0-9A-Fa-f]+\}|\\x[0-9A-Fa-f]{2}|\\[pP]\{[^}]*\}|\\[pP].|\\.|\(\?<\w+>|\(\?:|[^]/uy;
const QUANTIFIER = /([*+?]|\{(\d+)(,?)(\d*)\})(\??)/y;

function parse(source: string, flags: string): Part {
  const multiline = flags.includes('m');
  const assertions: Readonly<Record<string, Assertion>> = {
    '^': (before) => before === undefined || (multiline && before === '\n'),
    $: (_before, after) => after === undefined || (multiline && after === '\n'),
    '(?<![\\s\\S])': (before) => before === undefined,
    '(?![\\s\\S])': (_before, after) => after === undefined,
    '\\b': (before, after) => isWord(before) !== isWord(after),
    '\\B': (before, after) => isWord(before) === isWord(after),
  };
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    at += found?.[0].length ?? 0;
    return found;
  };
  const choice = (): Part => {
    const parts = [sequence()];
    while (source[at] === '|') {
      at++;
      parts.push(sequence());
    }
    return { type: 'choice', parts };
  };
  const sequence = (): Part => {
    const parts: Part[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') parts.push(repeated(atom()));
    return { type: 'sequence', parts };
  };
  const atom = (): Part => {
    const text = take(ATOM)?.[0] ?? '';
    const holds = Object.hasOwn(assertions, text) ? assertions[text] : undefined;
    if (holds !== undefined) return { type: 'assertion', holds };
    if (/^\((\?:|\?<\w+>)?$/.test(text)) {
      const inner = choice();
      at++;
      return inner;
    }
    const whole = new RegExp(`^(?:${text})$`, flags);
    return { type: 'character', accepts: (character) => whole.test(character) };
  };
  const repeated = (part: Part): Part => {
    const found = take(QUANTIFIER);
    if (found === null) return part;
    const [, sign = '', given, comma, last, mark] = found;
    const least = given === undefined ? (sign === '+' ? 1 : 0) : +given;
    const most = given === undefined ? (sign === '?' ? 1 : Infinity) : last ? +last : comma ? Infinity : least;
    return repeated({ type: 'repeat', part, least, most, lazy: mark !== '' });
  };
  return choice();
}

/** Builds the states of a part that continue at `next`; returns the first. */
function build(states: State[], part: Part, next: number): number {
  const add = (state: State): number => {
    if (states.length >= MAX_STATES) throw new SyntaxError('expression too large');
    return states.push(state) - 1;
  };
  switch (part.type) {
    case 'character':
      return add({ accepts: part.accepts, next: [next] });
    case 'assertion':
      return add({ holds: part.holds, next: [next] });
    case 'sequence':
      return part.parts.reduceRight((after, each) => build(states, each, after), next);
    case 'choice':
      return add({ next: part.parts.map((each) => build(states, each, next)) });
    case 'repeat': {
      const ordered = (again: number): number[] => (part.lazy ? [next, again] : [again, next]);
      let first = next;
      let wanted = part.least;
      if (part.most === Infinity) {
        // The loop back is after the part, not before it, so that an empty round ends the repetition, as in Go.
        const back = add({ next: [] });
        const once = build(states, part.part, back);
        states[back]?.next.push(...ordered(once));
        first = wanted === 0 ? add({ next: ordered(once) }) : once;
        wanted--;
      } else {
        for (let optional = wanted; optional < part.most; optional++) {
          first = add({ next: ordered(build(states, part.part, first)) });
        }
      }
      for (; wanted > 0; wanted--) first = build(states, part.part, first);
      return first;
    }
  }
}

export interface Automaton {
  readonly states: readonly State[];
  readonly start: number;
}

/** Ends in the state MATCH. */
export function automaton({ source, flags }: RegExp): Automaton {
  const states: State[] = [{ next: [] }];
  return { states, start: build(states, parse(source, flags), MATCH) };
}
