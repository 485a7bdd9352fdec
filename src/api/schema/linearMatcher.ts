/**
 * Whether a regular expression matches anywhere in a text, in time linear in the text, as RE2 does it: a backtracking
 * engine needs ages for `(a+)+$` and a few dozen letters. Works on the JavaScript form of RE2's syntax, which has
 * neither look-around nor back-references.
 */

type Part =
  | { readonly type: 'character'; readonly accepts: (character: string) => boolean }
  | { readonly type: 'assertion'; readonly holds: Assertion }
  | { readonly type: 'sequence' | 'choice'; readonly parts: readonly Part[] }
  | { readonly type: 'repeat'; readonly part: Part; readonly least: number; readonly most: number };

/** On the characters before and after a place; undefined at the ends of the text. */
type Assertion = (before: string | undefined, after: string | undefined) => boolean;

/** A state of the automaton: the next ones, reached with a character, where something holds, or at once. */
interface State {
  readonly accepts?: (character: string) => boolean;
  readonly holds?: Assertion;
  readonly next: number[];
}

/** A set of states at a place, with what has been found out about what follows. */
interface Place {
  readonly states: readonly number[];
  readonly before: string | undefined;
  readonly after: Map<string, Place | 'matches'>;
  matchesAtEnd?: boolean;
}

const MATCH = 0;
const MAX_STATES = 20_000;
const MAX_PLACES = 2_000;
const isWord = (character: string | undefined): boolean => character !== undefined && /\w/.test(character);
const ATOM =
  /\(\?<!\[\\s\\S\]\)|\(\?!\[\\s\\S\]\)|\[(?:[^\]\\]|\\.)*\]|\\u\{[0-9A-Fa-f]+\}|\\x[0-9A-Fa-f]{2}|\\[pP]\{[^}]*\}|\\[pP].|\\.|\(\?<\w+>|\(\?:|[^]/uy;
const QUANTIFIER = /([*+?]|\{(\d+)(,?)(\d*)\})\??/y;

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
    const [, sign = '', least, comma, most] = found;
    if (least === undefined) {
      return repeated({ type: 'repeat', part, least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity });
    }
    return repeated({ type: 'repeat', part, least: +least, most: most ? +most : comma ? Infinity : +least });
  };
  return choice();
}

/** The states of a part in front of `next`; returns the first. */
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
      let first = next;
      if (part.most === Infinity) {
        first = add({ next: [next] });
        states[first]?.next.push(build(states, part.part, first));
      } else {
        for (let optional = part.least; optional < part.most; optional++) {
          first = add({ next: [build(states, part.part, first), next] });
        }
      }
      for (let wanted = 0; wanted < part.least; wanted++) first = build(states, part.part, first);
      return first;
    }
  }
}

export function linearMatcher({ source, flags }: RegExp): (text: string) => boolean {
  const states: State[] = [{ next: [] }];
  const start = build(states, parse(source, flags), MATCH);
  const places = new Map<string, Place>();

  function placeOf(reached: ReadonlySet<number>, before: string | undefined): Place {
    // A match may begin anywhere. Of the character before, assertions only ask its kind.
    const all = [...new Set([...reached, start])].sort((left, right) => left - right);
    const kind = before === undefined ? '^' : before === '\n' ? 'n' : isWord(before) ? 'w' : 'o';
    const key = `${kind}${all.join()}`;
    const known = places.get(key);
    if (known !== undefined) return known;
    if (places.size >= MAX_PLACES) places.clear();
    const place: Place = { states: all, before, after: new Map() };
    places.set(key, place);
    return place;
  }

  /** The states where characters are awaited, or the match; as far as assertions hold between the two characters. */
  function settled({ states: from, before }: Place, after: string | undefined): Set<number> {
    const seen = new Set<number>();
    const open = [...from];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      const state = states[index];
      if (seen.has(index) || state === undefined) continue;
      if (state.holds !== undefined && !state.holds(before, after)) continue;
      seen.add(index);
      if (state.accepts === undefined) open.push(...state.next);
    }
    return seen;
  }

  function step(place: Place, character: string): Place | 'matches' {
    const here = settled(place, character);
    if (here.has(MATCH)) return 'matches';
    const reached = new Set<number>();
    for (const index of here) {
      const { accepts, next = [] } = states[index] ?? {};
      if (accepts?.(character)) for (const each of next) reached.add(each);
    }
    return placeOf(reached, character);
  }

  return (text) => {
    let place = placeOf(new Set(), undefined);
    for (const character of text) {
      let next = place.after.get(character);
      if (next === undefined) {
        next = step(place, character);
        if (place.after.size < MAX_PLACES) place.after.set(character, next);
      }
      if (next === 'matches') return true;
      place = next;
    }
    place.matchesAtEnd ??= settled(place, undefined).has(MATCH);
    return place.matchesAtEnd;
  };
}
