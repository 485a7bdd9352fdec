import { describe, expect, it } from 'vitest';
import { classOf, placementDraft, podAffinity, spreadOver } from '../../../test/fixtures/solver/placementDraft.ts';
import { testPod } from '../../../test/fixtures/solver/testObjects.ts';
import type { Pod } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import type { Draft } from '../draft.ts';
import { countOnNode, nodeAllows } from './nodeLimits.ts';
import type { OpenNode } from './openNode.ts';

const pod = (name: string, spec: object = {}): Pod => testPod(name, '1', '1Gi', spec, { labels: { app: name } });
const PORT = { containers: [{ name: 'main', ports: [{ containerPort: 80, hostPort: 80 }] }] };

function emptyNode({ compiled }: Draft): OpenNode {
  const { pools, states, table } = compiled.model;
  const [pool] = pools;
  if (pool === undefined) throw new Error('the pool was not compiled');
  return {
    pool,
    state: states.base(0),
    type: -1,
    price: 0,
    reservation: -1,
    limitNeed: new Float64Array(0),
    used: new Float64Array(table.size),
    entries: [],
    ports: [],
    host: undefined,
  };
}

/** Whether another pod of each name may be added to a node after the first ones, counted one by one or at once. */
function allowed(all: readonly Pod[], first: readonly string[], asked: readonly string[], atOnce: boolean): boolean[] {
  const draft = placementDraft(all);
  const node = emptyNode(draft);
  const may = (name: string): boolean => {
    const podClass = classOf(draft, name);
    const [variant] = podClass.variants;
    return variant !== undefined && nodeAllows(draft.domains, podClass, variant, node);
  };
  for (const name of first) {
    if (!atOnce) may(name);
    const podClass = classOf(draft, name);
    const [variant] = podClass.variants;
    if (variant === undefined) continue;
    node.entries.push({ podClass, variant, pods: [pod(name)] });
    node.ports.push(...podClass.shape.hostPorts);
    countOnNode(draft.domains, podClass, variant, node);
    draft.domains.recordInState(podClass, variant, node.state, 1, node);
  }
  return asked.map(may);
}

describe.each([true, false])('what pods on a planned node allow there (counted at once: %s)', (atOnce) => {
  it('is one pod of a kind with anti-affinity to itself, and any of others', () => {
    const all = [pod('apart', podAffinity('podAntiAffinity', Labels.hostname, 'apart')), pod('plain')];
    expect(allowed(all, ['apart'], ['apart', 'plain'], atOnce)).toEqual([false, true]);
    expect(allowed(all, ['plain'], ['apart', 'plain'], atOnce)).toEqual([true, true]);
  });

  it('is none of the pods that a pod there excludes, nor the reverse', () => {
    const all = [pod('apart', podAffinity('podAntiAffinity', Labels.hostname, 'plain')), pod('plain')];
    expect(allowed(all, ['apart'], ['plain'], atOnce)).toEqual([false]);
    expect(allowed(all, ['plain'], ['apart'], atOnce)).toEqual([false]);
  });

  it('is as many as a spread over nodes allows', () => {
    const all = [pod('spread', spreadOver(Labels.hostname, 'spread', 2))];
    expect(allowed(all, ['spread'], ['spread'], atOnce)).toEqual([true]);
    expect(allowed(all, ['spread', 'spread'], ['spread'], atOnce)).toEqual([false]);
  });

  it('is a pod with affinity to another only beside it', () => {
    const all = [pod('follower', podAffinity('podAffinity', Labels.hostname, 'leader')), pod('leader')];
    expect(allowed(all, [], ['follower'], atOnce)).toEqual([false]);
    expect(allowed(all, ['leader'], ['follower'], atOnce)).toEqual([true]);
  });

  it('is one pod for each host port', () => {
    const all = [pod('port', PORT), pod('plain')];
    expect(allowed(all, ['port'], ['port', 'plain'], atOnce)).toEqual([false, true]);
  });
});
