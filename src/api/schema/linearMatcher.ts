import { automaton, isWord, MATCH } from './automaton.ts';

/** A set of states at a position, with cached transitions. */
interface Place {
  readonly states: readonly number[];
  readonly before: string | undefined;
  readonly after: Map<string, Place | 'matches'>;
  matchesAtEnd?: boolean;
}

const MAX_PLACES = 2_000;

/** Whether the expression matches anywhere in a text. */
export function linearMatcher(expression: RegExp): (text: string) => boolean {
  const { states, start } = automaton(expression);
  const places = new Map<string, Place>();

  function placeOf(reached: ReadonlySet<number>, before: string | undefined): Place {
    // A match may begin anywhere. Assertions only test the class of the previous character.
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

  /** The states that expect a character, or the match, given the assertions that hold between the two characters. */
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
