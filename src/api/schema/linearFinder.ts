/**
 * Finds matches of a regular expression, in linear time per match: follows all possible matches at once, in the order
 * in which a backtracking engine would try them.
 */
import { automaton, MATCH } from './automaton.ts';

/** A possible match: its current state, and where it began. */
interface Thread {
  readonly state: number;
  readonly from: number;
}

/** All matches from the left, at most `limit`; as in Go, no empty match directly after another match. */
export function linearFinder(expression: RegExp): (text: string, limit: number) => string[] {
  const { states, start } = automaton(expression);

  /** Adds a thread for each state that expects a character, and for the match, in order of preference. */
  function follow(threads: Thread[], seen: Set<number>, thread: Thread, before?: string, after?: string): void {
    const open = [thread.state];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      const state = states[index];
      if (seen.has(index) || state === undefined) continue;
      if (state.holds !== undefined && !state.holds(before, after)) continue;
      seen.add(index);
      if (index === MATCH || state.accepts !== undefined) threads.push({ state: index, from: thread.from });
      else open.push(...state.next.toReversed());
    }
  }

  function findFrom(letters: readonly string[], first: number): readonly [from: number, to: number] | undefined {
    let found: readonly [number, number] | undefined;
    let threads: Thread[] = [];
    for (let at = first; at <= letters.length; at++) {
      const [before, letter] = [letters[at - 1], letters[at]];
      const here: Thread[] = [];
      const seen = new Set<number>();
      for (const thread of threads) follow(here, seen, thread, before, letter);
      // The leftmost match wins: once there is one, no other begins.
      if (found === undefined) follow(here, seen, { state: start, from: at }, before, letter);
      threads = [];
      for (const { state, from } of here) {
        if (state === MATCH) {
          found = [from, at];
          // Later threads have lower preference.
          break;
        }
        const { accepts, next = [] } = states[state] ?? {};
        if (letter !== undefined && accepts?.(letter)) threads.push(...next.map((each) => ({ state: each, from })));
      }
      if (found !== undefined && threads.length === 0) break;
    }
    return found;
  }

  return (text, limit) => {
    const letters = Array.from(text);
    const all: string[] = [];
    let end = -1;
    for (let at = 0; at <= letters.length && all.length < limit;) {
      const found = findFrom(letters, at);
      if (found === undefined) break;
      const [from, to] = found;
      if (to > from || from !== end) all.push(letters.slice(from, to).join(''));
      end = to;
      at = to > from ? to : to + 1;
    }
    return all;
  };
}
