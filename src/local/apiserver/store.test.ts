import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isExpired } from '../../kube/errors.ts';
import type { ApiObject } from './fields.ts';
import { keyOf, Store } from './store.ts';

function pod(name: string, namespace = 'default', labels: Record<string, string> = {}): ApiObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels } };
}

function filled(names: readonly string[], historyLimit = 100): { store: Store; table: ReturnType<Store['table']> } {
  const store = new Store({ historyLimit });
  const table = store.table('', 'pods');
  for (const name of names) table.put(keyOf('default', name), pod(name));
  return { store, table };
}

const namesOf = (items: readonly ApiObject[]): string[] => items.map((item) => item.metadata.name);

describe('Store', () => {
  it('gives every write the next revision, over all tables', () => {
    const store = new Store({ historyLimit: 10 });
    const first = store.table('', 'pods').put('default/a', pod('a'));
    const second = store.table('apps', 'deployments').put('default/b', pod('b'));
    expect([first.metadata.resourceVersion, second.metadata.resourceVersion, store.revision]).toEqual(['1', '2', 2]);
  });

  it('returns frozen objects', () => {
    const { table } = filled(['a']);
    const object = table.get('default/a');
    expect(() => {
      if (object !== undefined) object.metadata.name = 'b';
    }).toThrow(TypeError);
  });

  it('lists in key order for any order of writes', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9-]{0,6}$/), { maxLength: 30 }), (names) => {
        const { table } = filled(names);
        const listed = namesOf(table.page().items);
        expect(listed).toEqual([...names].sort());
      }),
      { numRuns: 50 },
    );
  });

  it('separates namespaces whose names have a common prefix', () => {
    const store = new Store({ historyLimit: 10 });
    const table = store.table('', 'pods');
    for (const namespace of ['a', 'a-b', 'ab']) table.put(keyOf(namespace, 'x'), pod('x', namespace));
    expect(table.page({ namespace: 'a' }).items.map((item) => item.metadata.namespace)).toEqual(['a']);
  });

  it('returns pages of one revision in spite of later writes', () => {
    const { store, table } = filled(['a', 'b', 'c', 'd']);
    const first = table.page({ limit: 2 });
    table.remove('default/c', table.get('default/c') ?? pod('c'));
    table.put('default/b2', pod('b2'));
    table.put('default/d', { ...pod('d'), metadata: { ...pod('d').metadata, labels: { changed: 'yes' } } });
    const second = table.page({ limit: 2, after: first.next, revision: first.revision });
    expect(namesOf([...first.items, ...second.items])).toEqual(['a', 'b', 'c', 'd']);
    expect(second.items[1]?.metadata.labels).toEqual({});
    expect(second.next).toBeUndefined();
    expect(namesOf(table.page().items)).toEqual(['a', 'b', 'b2', 'd']);
    expect(store.revision).toBe(7);
  });

  it('throws 410 for a revision older than its history', () => {
    const { table } = filled(['a', 'b', 'c', 'd', 'e', 'f'], 2);
    expect(table.eventsAfter(5)).toHaveLength(1);
    expect(() => table.eventsAfter(1)).toThrow(expect.objectContaining({ code: 410, reason: 'Expired' }) as Error);
    expect(() => table.page({ revision: 1 })).toThrow(expect.objectContaining({ code: 410 }) as Error);
  });

  it('drops its history when compacted', () => {
    const { store, table } = filled(['a', 'b']);
    store.compact();
    let failure: unknown;
    try {
      table.eventsAfter(1);
    } catch (error) {
      failure = error;
    }
    expect(isExpired(failure)).toBe(true);
    expect(table.eventsAfter(2)).toEqual([]);
    expect(namesOf(table.page().items)).toEqual(['a', 'b']);
  });

  it('records a deletion with its own revision and the last state', () => {
    const { table } = filled(['a']);
    table.remove('default/a', table.get('default/a') ?? pod('a'));
    const [event] = table.eventsAfter(1);
    expect(event).toMatchObject({
      type: 'DELETED',
      revision: 2,
      object: { metadata: { name: 'a', resourceVersion: '2' } },
    });
  });
});
