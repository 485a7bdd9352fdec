import { expect, it } from 'vitest';
import type { LimitRange } from '../../api/kinds.ts';
import { Store } from '../../kube/store.ts';
import { BY_NAMESPACE, byNamespaceIndex, defaultRequests } from './limitRanges.ts';

const range = (name: string, ...limits: NonNullable<LimitRange['spec']>['limits']): LimitRange => ({
  metadata: { name, namespace: 'a' },
  spec: { limits },
});

it('takes the defaults of containers, the first that names a resource', () => {
  const store = new Store<LimitRange>();
  store.addIndex(BY_NAMESPACE, byNamespaceIndex);
  store.set(
    range('x', { type: 'Pod', defaultRequest: { cpu: '9' } }, { type: 'Container', defaultRequest: { cpu: '1' } }),
  );
  store.set(range('y', { type: 'Container', defaultRequest: { cpu: '2', memory: '1Gi' } }, { type: 'Container' }));
  expect(defaultRequests(new Set(['a', 'b']), store)).toEqual(
    new Map([
      ['a', { cpu: '1', memory: '1Gi' }],
      ['b', {}],
    ]),
  );
});
