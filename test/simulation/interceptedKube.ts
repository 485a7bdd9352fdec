import type { Kube } from '../../src/kube/kube.ts';

/** Test support: a Kube of which some operations are replaced. `original` is what the replacements may call. */
export function interceptedKube(original: Kube, replacements: Partial<Kube>): Kube {
  return new Proxy(original, {
    get: (target, key) => {
      const value: unknown = Reflect.get(replacements, key) ?? Reflect.get(target, key);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
