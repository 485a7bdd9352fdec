import { expect, it } from 'vitest';
import type { LimitRange } from '../../api/kinds.ts';
import { KubeError } from '../../kube/errors.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import { silentLog } from '../../kube/log.ts';
import { LimitRanges } from './limitRanges.ts';

type List = (namespace: string | undefined) => readonly LimitRange[];

function ranges(list: List, log: Log = silentLog): LimitRanges {
  const kube = {
    list: async (_kind: unknown, options: { namespace?: string } = {}) => ({
      metadata: {},
      items: list(options.namespace),
    }),
  } as Pick<Kube, 'list'> as Kube;
  return new LimitRanges({ kube, log });
}

const range = (...limits: NonNullable<LimitRange['spec']>['limits']): LimitRange => ({
  metadata: { name: 'r' },
  spec: { limits },
});
const never = new AbortController().signal;

it('takes the defaults of containers, the first that names a resource', async () => {
  const found = await ranges((namespace) =>
    namespace === 'a'
      ? [
          range({ type: 'Pod', defaultRequest: { cpu: '9' } }, { type: 'Container', defaultRequest: { cpu: '1' } }),
          range({ type: 'Container', defaultRequest: { cpu: '2', memory: '1Gi' } }, { type: 'Container' }),
        ]
      : [],
  ).defaultRequests(new Set(['a', 'b']), never);
  expect(found).toEqual(
    new Map([
      ['a', { cpu: '1', memory: '1Gi' }],
      ['b', {}],
    ]),
  );
});

it('does without them when access is forbidden, and logs it once', async () => {
  const said: string[] = [];
  let asked = 0;
  const log: Log = { ...silentLog, error: (message) => void said.push(message) };
  const forbidden = ranges(() => {
    asked++;
    throw new KubeError({ code: 403, reason: 'Forbidden' });
  }, log);
  for (let pass = 0; pass < 3; pass++) {
    expect(await forbidden.defaultRequests(new Set(['a']), never)).toEqual(new Map([['a', {}]]));
  }
  expect([asked, said.length]).toEqual([1, 1]);
});

it('does without them for a pass that cannot reach the server, and retries in the next', async () => {
  let reachable = false;
  const flaky = ranges(() => {
    if (!reachable) throw new KubeError({ code: 0, reason: 'Unreachable' });
    return [range({ type: 'Container', defaultRequest: { cpu: '1' } })];
  });
  expect(await flaky.defaultRequests(new Set(['a']), never)).toEqual(new Map([['a', {}]]));
  reachable = true;
  expect(await flaky.defaultRequests(new Set(['a']), never)).toEqual(new Map([['a', { cpu: '1' }]]));
});
