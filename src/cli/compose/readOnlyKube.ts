import { InvariantError } from '../../errors/invariantError.ts';
import type { Kube } from '../../kube/kube.ts';

const WRITES: readonly PropertyKey[] = [
  'create',
  'replace',
  'patch',
  'delete',
  'deleteCollection',
  'evict',
  'bind',
] satisfies readonly (keyof Kube)[];

/** The same server, where every write is a mistake of ours. */
export function readOnlyKube(kube: Kube): Kube {
  return new Proxy(kube, {
    get: (target, name) => {
      if (WRITES.includes(name)) throw new InvariantError(`a look at a cluster must not write: ${String(name)}`);
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...input: unknown[]): unknown => Reflect.apply(value, target, input);
    },
  });
}
