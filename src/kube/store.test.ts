import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../api/object.ts';
import { keyOf, Store } from './store.ts';

interface Thing extends KubeObject {
  readonly tags: readonly string[];
}
const thing = (namespace: string | undefined, name: string, tags: readonly string[]): Thing => ({
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  tags,
});
const byTag = (object: Thing): readonly string[] => object.tags;

describe('keyOf', () => {
  it('is the namespace and the name, or the name', () => {
    expect(keyOf({ name: 'a', namespace: 'n' })).toBe('n/a');
    expect(keyOf({ name: 'a' })).toBe('a');
    expect(keyOf(thing('n', 'a', []))).toBe('n/a');
    expect(keyOf(thing(undefined, 'a', []))).toBe('a');
  });
});

describe('Store', () => {
  it('agrees with a plain map, whatever is done to it', () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const namespace = fc.constantFrom(undefined, 'n', 'm');
    const tags = fc.uniqueArray(fc.constantFrom('x', 'y', 'z'));
    const step = fc.oneof(
      fc.record({ do: fc.constant('set' as const), namespace, name, tags }),
      fc.record({ do: fc.constant('delete' as const), namespace, name }),
      fc.record({ do: fc.constant('index' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const store = new Store<Thing>();
        const model = new Map<string, Thing>();
        const replaced: [actual: Thing | undefined, expected: Thing | undefined][] = [];
        store.addIndex('early', byTag);
        for (const action of steps) {
          if (action.do === 'index') store.addIndex('late', byTag);
          else if (action.do === 'set') {
            const object = thing(action.namespace, action.name, action.tags);
            replaced.push([store.set(object), model.get(keyOf(object))]);
            model.set(keyOf(object), object);
          } else {
            const ref = { name: action.name, namespace: action.namespace };
            replaced.push([store.delete(ref), model.get(keyOf(ref))]);
            model.delete(keyOf(ref));
          }
          expect(store.size).toBe(model.size);
        }
        store.addIndex('late', byTag);
        for (const [actual, expected] of replaced) expect(actual).toBe(expected);
        expect(new Set(store.list())).toEqual(new Set(model.values()));
        for (const object of model.values()) expect(store.get(object.metadata)).toBe(object);
        for (const index of ['early', 'late']) {
          for (const tag of ['x', 'y', 'z']) {
            const expected = [...model.values()].filter((object) => object.tags.includes(tag));
            expect(new Set(store.byIndex(index, tag))).toEqual(new Set(expected));
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it('hands out arrays that later changes leave alone', () => {
    const store = new Store<Thing>();
    store.addIndex('tag', byTag);
    const first = thing('n', 'a', ['x']);
    store.set(first);
    const before = store.byIndex('tag', 'x');
    expect(store.byIndex('tag', 'x')).toBe(before);
    store.set(thing('n', 'b', ['x']));
    expect(before).toEqual([first]);
    expect(store.byIndex('tag', 'x')).toHaveLength(2);
  });

  it('refuses an unknown index, and two meanings of one name', () => {
    const store = new Store<Thing>();
    store.addIndex('tag', byTag);
    expect(() => store.byIndex('node', 'x')).toThrow('no index "node"; declared are: tag');
    expect(() => store.addIndex('tag', () => [])).toThrow(/already declared/);
  });
});
