import type { Kube } from '../../kube/kube.ts';

const READS: readonly (keyof Kube)[] = ['get', 'list', 'watch', 'raw'];

/** The same server, where every write is a mistake of ours. */
export function readOnlyKube(kube: Kube): Kube {
  return new Proxy(kube, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (!READS.includes(name as keyof Kube)) throw new Error(`a look at a cluster must not write: ${String(name)}`);
      return (...input: unknown[]): unknown => Reflect.apply(value, target, input);
    },
  });
}
