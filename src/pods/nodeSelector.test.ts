import { describe, expect, it } from 'vitest';
import type { Node, Pod } from '../api/kinds.ts';
import { matchesNodeAffinity, matchesNodeTerm } from './nodeSelector.ts';

const node: Node = { metadata: { name: 'one', labels: { disk: 'ssd', size: '8' } } };
const expression = (key: string, operator: string, values?: string[]): object => ({
  matchExpressions: [{ key, operator, ...(values && { values }) }],
});

describe('matchesNodeTerm', () => {
  it.each<[string, object, boolean]>([
    ['nothing asked for', {}, false],
    ['In', expression('disk', 'In', ['hdd', 'ssd']), true],
    ['NotIn', expression('disk', 'NotIn', ['ssd']), false],
    ['NotIn of a label that is missing', expression('zone', 'NotIn', ['a']), true],
    ['Exists', expression('constructor', 'Exists'), false],
    ['DoesNotExist', expression('zone', 'DoesNotExist'), true],
    ['Gt', expression('size', 'Gt', ['4']), true],
    ['Lt', expression('size', 'Lt', ['4']), false],
    ['Gt of a label that is no number', expression('disk', 'Gt', ['4']), false],
    ['Gt of nothing', expression('size', 'Gt'), false],
    ['the name of the node', { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['one'] }] }, true],
    [
      'the name of another node',
      { matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['one'] }] },
      false,
    ],
  ])('%s', (_what, term, expected) => expect(matchesNodeTerm(term, node)).toBe(expected));
});

describe('matchesNodeAffinity', () => {
  const pod = (spec: object): Pod => ({ metadata: { name: 'p' }, spec: { containers: [], ...spec } });
  const requiring = (...nodeSelectorTerms: object[]): object => ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  });

  it.each<[string, object, boolean]>([
    ['no wish', {}, true],
    ['a node selector', { nodeSelector: { disk: 'ssd' } }, true],
    ['a node selector for a missing label', { nodeSelector: { zone: 'a' } }, false],
    ['alternatives', requiring(expression('zone', 'Exists'), expression('disk', 'Exists')), true],
    ['no alternative', requiring(), false],
    ['both', { nodeSelector: { disk: 'hdd' }, ...requiring(expression('disk', 'Exists')) }, false],
  ])('%s', (_what, spec, expected) => expect(matchesNodeAffinity(pod(spec), node)).toBe(expected));
});
