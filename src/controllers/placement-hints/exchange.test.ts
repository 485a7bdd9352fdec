import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addResources, fits, parseResources, type Resources } from '../../units/resources.ts';
import { exchange, exchangeOverMany, type Neighbour, type Seat, type Table } from './exchange.ts';

const asks = (cpu: number, memory = cpu): Resources => parseResources({ cpu, memory: `${memory}Gi` });
const seat = (of: string, requests: Resources, mayMove = true): Seat<string> => ({
  of,
  kind: of.split('-')[0] ?? '',
  requests,
  mayMove,
});
const table = (free: Resources, ...seats: Seat<string>[]): Table<string> => ({ free, seats });

describe('an exchange', () => {
  it('moves nothing when all have room', () => {
    expect(exchange(table(asks(4), seat('a', asks(4))), table(asks(1)))).toEqual({ there: [], here: [] });
  });

  it('moves a pod to a node with room', () => {
    const crowded = table(asks(4), seat('a', asks(3)), seat('b', asks(2)));
    expect(exchange(crowded, table(asks(2)))).toEqual({ there: ['b'], here: [] });
  });

  it('exchanges pods when no node has room for one more', () => {
    const crowded = table(asks(4), seat('a', asks(3)), seat('b', asks(2)));
    const other = table(asks(4), seat('c', asks(2)), seat('d', asks(1)));
    expect(exchange(crowded, other)).toEqual({ there: ['a'], here: ['c'] });
  });

  it('does not move pods that may not move, and finds nothing when only they could', () => {
    const crowded = table(asks(4), seat('a', asks(3), false), seat('b', asks(2), false));
    expect(exchange(crowded, table(asks(8)))).toBeUndefined();
  });

  it('leaves room for every resource on both nodes, whatever is expected on them', () => {
    const seats = fc.array(
      fc.record({ cpu: fc.integer({ min: 1, max: 9 }), memory: fc.integer({ min: 1, max: 9 }), mayMove: fc.boolean() }),
      { maxLength: 8 },
    );
    const free = fc.record({ cpu: fc.integer({ min: 0, max: 30 }), memory: fc.integer({ min: 0, max: 30 }) });
    const side = fc.record({ free, seats });
    fc.assert(
      fc.property(side, side, (one, two) => {
        const made = [one, two].map(({ free: room, seats: own }, at) =>
          table(
            asks(room.cpu, room.memory),
            ...own.map(({ cpu, memory, mayMove }, index) =>
              seat(`${cpu}x${memory}-${at}-${index}`, asks(cpu, memory), mayMove),
            ),
          ),
        );
        const [crowded, other] = made as [Table<string>, Table<string>];
        const demand = (own: readonly Seat<string>[]): Resources =>
          addResources(...own.map(({ requests }) => requests));
        fc.pre(fits(demand(other.seats), other.free));
        const found = exchange(crowded, other);
        const goes = new Set(found?.there ?? []);
        const comes = new Set(found?.here ?? []);
        const here = [
          ...crowded.seats.filter(({ of }) => !goes.has(of)),
          ...other.seats.filter(({ of }) => comes.has(of)),
        ];
        const there = [
          ...other.seats.filter(({ of }) => !comes.has(of)),
          ...crowded.seats.filter(({ of }) => goes.has(of)),
        ];
        const bothFit = fits(demand(here), crowded.free) && fits(demand(there), other.free);
        // Where nothing is found, moving a single pod would not help either.
        const alone = crowded.seats
          .filter(({ mayMove }) => mayMove)
          .some((moved) => {
            const rest = crowded.seats.filter((each) => each !== moved);
            return fits(demand(rest), crowded.free) && fits(demand([...other.seats, moved]), other.free);
          });
        expect(found === undefined ? !alone : bothFit).toBe(true);
        const fixed = [...crowded.seats, ...other.seats].filter(({ mayMove }) => !mayMove);
        expect(fixed.filter(({ of }) => goes.has(of) || comes.has(of))).toEqual([]);
      }),
    );
  });
});

describe('an exchange with several nodes', () => {
  const neighbour = (name: string, own: Table<string>, takes = true): Neighbour<string> => ({
    name,
    table: own,
    takes: () => takes,
  });

  it('moves pods to where each node has a little room', () => {
    const crowded = table(asks(4), seat('a', asks(3)), seat('b', asks(3)));
    const one = table(asks(3), seat('c', asks(2)));
    const two = table(asks(4), seat('d', asks(2)), seat('e', asks(1)));
    expect(exchangeOverMany(crowded, [neighbour('one', one), neighbour('two', two)])).toEqual([
      { of: 'a', to: 'one' },
      { of: 'c', to: undefined },
      { of: 'b', to: 'two' },
      { of: 'd', to: undefined },
    ]);
  });

  it('moves nothing when not all would have room, or pods may not go there', () => {
    const crowded = table(asks(4), seat('a', asks(3)), seat('b', asks(3)));
    const one = table(asks(3), seat('c', asks(2)));
    expect(exchangeOverMany(crowded, [neighbour('one', one)])).toEqual([]);
    expect(exchangeOverMany(crowded, [neighbour('one', table(asks(9)), false)])).toEqual([]);
  });
});
