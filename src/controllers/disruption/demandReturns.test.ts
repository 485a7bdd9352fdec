import { beforeEach, expect, it } from 'vitest';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Annotations, Labels } from '../../api/labels.ts';
import { VirtualClock } from '../../clock/virtualClock.ts';
import type { Command } from '../../disruption/command.ts';
import type { InformerEvent } from '../../kube/informer.ts';
import { DemandReturns } from './demandReturns.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);

let clock: VirtualClock;
let pods: number;
let reversals: string[];
let comebacks: number;
let returns: DemandReturns;
let tell: (event: InformerEvent<NodeClaim>) => void;

beforeEach(() => {
  clock = new VirtualClock(START);
  pods = 100;
  reversals = [];
  comebacks = 0;
  returns = new DemandReturns({
    clock,
    nodeClaims: {
      subscribe: (listener) => {
        tell = listener;
        return () => undefined;
      },
    },
    pods: () => pods,
    onReversal: (pool) => reversals.push(pool),
    onReturn: () => (comebacks += 1),
  });
});

const command = { candidates: [{ pool: { metadata: { name: 'default' } } }] } as unknown as Command;

function buy(annotations: Record<string, string> = {}): void {
  const creationTimestamp = new Date(clock.now()).toISOString();
  const labels = { [Labels.nodePool]: 'default' };
  const metadata = { name: 'new', creationTimestamp, labels, annotations };
  tell({ type: 'added', object: { metadata } as unknown as NodeClaim } as InformerEvent<NodeClaim>);
}

it('knows nothing until demand has returned once', async () => {
  returns.begin([command]);
  await clock.advance(MINUTE);
  expect(returns.calmFor('default')).toBeUndefined();
});

it('expects demand after as long as it last took, or as it has stayed away since if that is much longer', async () => {
  returns.begin([command]);
  await clock.advance(2 * MINUTE);
  pods = 150;
  buy();
  expect(returns.calmFor('default')).toBe(2 * MINUTE);
  expect(returns.calmFor('other')).toBeUndefined();
  await clock.advance(15 * MINUTE);
  expect(returns.calmFor('default')).toBe(2 * MINUTE);
  await clock.advance(75 * MINUTE);
  expect(returns.calmFor('default')).toBe(90 * MINUTE);
  pods = 120;
  returns.begin([command]);
  await clock.advance(4 * MINUTE);
  pods = 200;
  buy();
  expect(returns.calmFor('default')).toBe(3 * MINUTE);
  expect({ reversals, comebacks }).toEqual({ reversals: [], comebacks: 2 });
});

it('expects demand sooner the longer it has been away, and later again once it is overdue', async () => {
  returns.begin([command]);
  await clock.advance(3 * MINUTE);
  pods = 150;
  buy();
  pods = 100;
  returns.begin([command]);
  const calm: number[] = [];
  for (let minute = 0; minute < 9; minute++) {
    calm.push((returns.calmFor('default') ?? 0) / MINUTE);
    await clock.advance(MINUTE);
  }
  expect(calm).toEqual([3, 2, 1, 0, 1, 2, 3, 4, 5]);
});

it('counts a node bought for the same pods as before, and draws no conclusion from it', async () => {
  returns.begin([command]);
  await clock.advance(MINUTE);
  buy();
  expect({ reversals, comebacks }).toEqual({ reversals: ['default'], comebacks: 0 });
  expect(returns.calmFor('default')).toBeUndefined();
});

it('ignores replacements of commands, and nodes bought long after', async () => {
  returns.begin([command]);
  pods = 150;
  buy({ [Annotations.disruptionCommand]: 'id/1/multi' });
  await clock.advance(61 * MINUTE);
  buy();
  expect(returns.calmFor('default')).toBeUndefined();
  expect(reversals).toEqual([]);
});

it('does not treat growth as a return, even if nodes were removed in between', async () => {
  buy();
  pods = 150;
  returns.begin([command]);
  await clock.advance(MINUTE);
  pods = 200;
  buy();
  expect(returns.calmFor('default')).toBeUndefined();
  pods = 80;
  returns.begin([command]);
  await clock.advance(2 * MINUTE);
  pods = 120;
  buy();
  expect(returns.calmFor('default')).toBe(2 * MINUTE);
});
