import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConditionSet, NODE_CLAIM_CONDITIONS } from '../api/conditions.ts';
import { renderCrds } from '../api/crds.ts';
import { Kinds } from '../api/kinds.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { SeededRandom } from '../clock/seededRandom.ts';
import { VirtualClock } from '../clock/virtualClock.ts';
import { LocalApiServer } from '../local/apiserver/localApiServer.ts';
import { patchConditions } from './conditionPatch.ts';
import { isConflict } from './errors.ts';
import type { Kube } from './kube.ts';

const NOW = Date.UTC(2026, 0, 1);
let kube: Kube;
let server: LocalApiServer;
let claim: NodeClaim;

beforeEach(async () => {
  server = new LocalApiServer({ clock: new VirtualClock(NOW), random: new SeededRandom(3) });
  ({ kube } = server);
  for (const crd of renderCrds()) await kube.create(Kinds.CustomResourceDefinition, crd);
  claim = await kube.create(Kinds.NodeClaim, {
    metadata: { name: 'a' },
    spec: {
      nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
      requirements: [],
      expireAfter: 'Never',
    },
  });
});
afterEach(() => server.close());

/** The claim as a loop wants it that looked at `seen`. */
function wish(seen: NodeClaim, change: (conditions: ConditionSet) => void, fields: object = {}): NodeClaim {
  const conditions = new ConditionSet(NODE_CLAIM_CONDITIONS, seen, NOW);
  change(conditions);
  return { ...seen, status: { ...seen.status, ...fields, conditions: conditions.conditions } };
}
const write = (seen: NodeClaim, after: NodeClaim): Promise<NodeClaim> =>
  patchConditions(kube, Kinds.NodeClaim, NODE_CLAIM_CONDITIONS, seen, after);
const said = ({ status }: NodeClaim): string[] =>
  (status?.conditions ?? []).map(({ type, status: value }) => `${type}=${value}`).sort();

describe('patchConditions', () => {
  it('keeps concurrent changes of other conditions, and adds its own', async () => {
    const drifted = wish(claim, (conditions) => conditions.setTrue('Drifted', NOW));
    const launched = wish(claim, (conditions) => conditions.setTrue('Launched', NOW), { providerID: 'kwok://a' });
    await write(claim, drifted);
    const stored = await write(claim, launched);
    expect(said(stored)).toEqual([
      'Drifted=True',
      'Initialized=Unknown',
      'Launched=True',
      'Ready=Unknown',
      'Registered=Unknown',
    ]);
    expect(stored.status?.providerID).toBe('kwok://a');
  });

  it('computes the root condition from all others', async () => {
    const first = await write(
      claim,
      wish(claim, (conditions) => conditions.setTrue('Launched', NOW)),
    );
    const registered = wish(first, (conditions) => conditions.setTrue('Registered', NOW));
    const initialized = wish(first, (conditions) => conditions.setTrue('Initialized', NOW));
    await write(first, registered);
    expect(said(await write(first, initialized))).toContain('Ready=True');
  });

  it('removes a condition that is still as it was read', async () => {
    const marked = await write(
      claim,
      wish(claim, (conditions) => conditions.setTrue('Drifted', NOW)),
    );
    const cleared = wish(marked, (conditions) => conditions.clear('Drifted'));
    await write(
      marked,
      wish(marked, (conditions) => conditions.setTrue('Launched', NOW)),
    );
    expect(said(await write(marked, cleared))).toEqual([
      'Initialized=Unknown',
      'Launched=True',
      'Ready=Unknown',
      'Registered=Unknown',
    ]);
  });

  it.each([
    [
      'the same condition',
      (seen: NodeClaim) =>
        write(
          seen,
          wish(seen, (one) => one.setFalse('Launched', NOW, 'No', '')),
        ),
    ],
    [
      'the same field',
      (seen: NodeClaim) =>
        write(
          seen,
          wish(seen, () => undefined, { providerID: 'kwok://b' }),
        ),
    ],
    [
      'a deletion timestamp',
      async () => {
        const body = { metadata: { finalizers: ['example.com/hold'] } };
        await kube.patch(Kinds.NodeClaim, { name: 'a' }, { type: 'merge', body });
        await kube.delete(Kinds.NodeClaim, { name: 'a' });
      },
    ],
  ])('is a conflict after a concurrent write of %s', async (_what, meanwhile) => {
    const after = wish(claim, (conditions) => conditions.setTrue('Launched', NOW), { providerID: 'kwok://a' });
    await meanwhile(claim);
    const before = await kube.get(Kinds.NodeClaim, { name: 'a' });
    const error = await write(claim, after).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(isConflict(error)).toBe(true);
    expect(await kube.get(Kinds.NodeClaim, { name: 'a' })).toEqual(before);
  });
});
