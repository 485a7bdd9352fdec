import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../clock/virtualClock.ts';
import { NodeOpening, type Telling } from './nodeOpening.ts';

const { signal } = new AbortController();

interface Setup {
  readonly areMoreComing?: boolean;
  /** How long it takes to tell the pods of one node. */
  readonly tellingTime?: number;
  /** Of the pods on a claim's node. */
  readonly priorityOf?: (claim: string) => number;
  /** The order of nodes of one priority, by the time; by name unless given. */
  readonly turnOf?: (claim: string, now: number) => number;
}

/**
 * Hints succeed unless a claim's name says otherwise: `late` ends the wait, `cleared` needs a new hint each time, and
 * `stuck` never gets one.
 */
function setup({ areMoreComing = false, tellingTime = 50, priorityOf = () => 0, turnOf = () => 0 }: Setup = {}) {
  const clock = new VirtualClock(0);
  const told = new Set<string>();
  const arranged: { readonly claims: readonly string[]; readonly settled: readonly string[] }[] = [];
  const opened: { readonly claim: string; readonly at: number }[] = [];
  const opening = new NodeOpening({
    clock,
    areMoreComing: () => areMoreComing,
    arrange: (claims, settled) => {
      arranged.push({ claims, settled: [...settled] });
    },
    inOrder: (claims) => {
      const priorities = [...new Set(claims.map(priorityOf))].sort((one, other) => other - one);
      const turn = (claim: string): number => turnOf(claim, clock.now());
      const sorted = claims.toSorted((one, other) => turn(one) - turn(other) || (one < other ? -1 : 1));
      return priorities.map((priority) => sorted.filter((claim) => priorityOf(claim) === priority));
    },
    tell: async (claims, end): Promise<Telling> => {
      if (claims.includes('stuck')) {
        while (clock.now() < end()) await clock.sleep(end() - clock.now());
        return 'late';
      }
      const unsaid = claims.filter((claim) => claim === 'cleared' || !told.has(claim));
      if (unsaid.length === 0) return 'said';
      await clock.sleep(tellingTime * unsaid.length);
      for (const claim of unsaid) told.add(claim);
      return unsaid.includes('late') ? 'late' : 'told';
    },
  });
  const join = async (claim: string, at: number): Promise<void> => {
    await clock.sleep(at);
    await opening.join(claim, signal);
    opened.push({ claim, at: clock.now() });
  };
  const play = async (...joins: readonly Promise<void>[]): Promise<void> => {
    let isOver = false;
    const all = Promise.all(joins).then(() => (isOver = true));
    await clock.runUntil(() => isOver);
    await all;
  };
  return { play, join, opened, arranged, opening, clock };
}

describe('nodes that join', () => {
  it('open together when the pods of all have hints', async () => {
    const { play, join, opened, arranged } = setup();
    await play(join('a', 10), join('b', 20), join('c', 30));
    expect(arranged).toEqual([
      { claims: ['a'], settled: [] },
      { claims: ['a', 'b', 'c'], settled: ['a'] },
    ]);
    expect(opened).toEqual(['a', 'b', 'c'].map((claim) => ({ claim, at: 175 })));
  });

  it('count as begun once their pods have hints, even after they have opened', async () => {
    const { play, join, opening } = setup();
    expect(opening.hasBegun('a')).toBe(false);
    await play(join('a', 10));
    expect([opening.hasBegun('a'), opening.hasBegun('b')]).toEqual([true, false]);
  });

  it('do not wait alone for nodes that are not coming', async () => {
    const { play, join, opened } = setup();
    await play(join('a', 10));
    expect(opened).toEqual([{ claim: 'a', at: 65 }]);
  });

  it('wait a little for the next one while more are coming', async () => {
    const { play, join, opened } = setup({ areMoreComing: true });
    await play(join('a', 0), join('b', 150), join('c', 1_000));
    expect(opened).toEqual([
      { claim: 'a', at: 460 },
      { claim: 'b', at: 460 },
      { claim: 'c', at: 1_255 },
    ]);
  });

  it('never wait longer than ten seconds, however many follow', async () => {
    const { play, join, opened } = setup({ areMoreComing: true });
    const joins = Array.from({ length: 200 }, (_, at) => join(`n${at}`, at * 100));
    await play(...joins);
    expect(opened).toHaveLength(200);
    const waits = opened.map(({ claim, at }) => at - Number(claim.slice(1)) * 100);
    expect(Math.max(...waits)).toBeLessThanOrEqual(10_100);
  });

  it('wait a second for hints that cannot be written, and a little longer per additional node', async () => {
    const { play, join, opened } = setup();
    await play(join('stuck', 0));
    expect(opened).toEqual([{ claim: 'stuck', at: 1_000 }]);
    const group = setup({ areMoreComing: true });
    await group.play(group.join('stuck', 0), group.join('a', 10), group.join('b', 20));
    // They wait for one another first.
    expect(group.opened.map(({ at }) => at)).toEqual([220, 220, 220].map((joined) => joined + 1_500));
    // Also for those that join while it waits.
    const late = setup();
    await late.play(late.join('stuck', 0), late.join('a', 900));
    expect(late.opened.map(({ at }) => at)).toEqual([1_250, 1_250]);
  });

  it('open although hints are late, or are cleared repeatedly', async () => {
    const { play, join, opened } = setup();
    await play(join('late', 0));
    await play(join('cleared', 0));
    expect(opened).toEqual([
      { claim: 'late', at: 50 },
      { claim: 'cleared', at: 50 + 5 * (50 + 5) },
    ]);
  });

  it('get no further writes until all of the group are open, but do not wait long', async () => {
    const { play, join, opening, clock } = setup();
    const done: { readonly claim: string; readonly at: number }[] = [];
    const openAt = async (claim: string, after: number): Promise<void> => {
      await join(claim, 10);
      await clock.sleep(after);
      await opening.opened(claim, signal);
      done.push({ claim, at: clock.now() });
    };
    await play(openAt('a', 5), openAt('b', 30));
    const [first, second] = done;
    expect(first?.at).toBe(second?.at);
    // One of them never opens.
    await play(openAt('c', 5), join('d', 10));
    expect(done[2]?.at).toBeGreaterThanOrEqual((first?.at ?? 0) + 1_000);
    await play(openAt('e', 0));
    expect(done).toHaveLength(4);
  });

  it('open in the order in which pods will need them, as many at a time as the API server takes', async () => {
    const { play, join, opened, opening, clock } = setup();
    const claims = Array.from({ length: 120 }, (_, at) => `c${String(120 - at).padStart(3, '0')}`);
    const open = async (claim: string): Promise<void> => {
      await join(claim, 10);
      await clock.sleep(7);
      await opening.opened(claim, signal);
    };
    await play(...claims.map(open));
    expect(opened.map(({ claim }) => claim)).toEqual([...claims].sort());
    const started = opened[0]?.at ?? 0;
    expect(opened.map(({ at }) => at - started)).toEqual(claims.map((_, at) => (at < 100 ? 0 : 7)));
  });

  it('open in the order in which pods will need them once all have hints, not in that of when these were begun', async () => {
    const turnOf = (claim: string, now: number): number => (now < 100 ? 1 : -1) * claim.charCodeAt(0);
    const { play, join, opened } = setup({ turnOf });
    await play(...['a', 'b', 'c'].map((claim) => join(claim, 10)));
    expect(opened.map(({ claim }) => claim)).toEqual(['c', 'b', 'a']);
    expect(opened[0]?.at).toBeGreaterThan(100);
  });

  it('open to pods of a lower priority only when those of a higher one are all open', async () => {
    const { play, join, opened, opening, clock } = setup({ priorityOf: (claim) => Number(claim.slice(1)) });
    const open = async (claim: string, takes: number): Promise<void> => {
      await join(claim, 10);
      await clock.sleep(takes);
      await opening.opened(claim, signal);
    };
    await play(open('a1', 5), open('a3', 5), open('b3', 40), open('a2', 10));
    const started = opened[0]?.at ?? 0;
    expect(opened.map(({ claim, at }) => [claim, at - started])).toEqual([
      ['a3', 0],
      ['b3', 0],
      ['a2', 40],
      ['a1', 50],
    ]);
    // One of a higher priority never opens.
    await play(join('c9', 10), open('c1', 0));
    expect(opened.at(-1)?.claim).toBe('c1');
  });
});
