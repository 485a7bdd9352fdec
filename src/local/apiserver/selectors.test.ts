import { describe, expect, it } from 'vitest';
import { selectableFields } from './builtinResources.ts';
import type { ApiObject } from './fields.ts';
import { labelSelectorPredicate, parseFieldSelector, parseLabelSelector } from './selectors.ts';

describe('label selectors', () => {
  const labels = { app: 'web', tier: 'front', size: '7' };
  it.each([
    ['app=web', true],
    ['app==web', true],
    ['app!=web', false],
    ['missing!=web', true],
    ['app in (web, api)', true],
    ['app notin (web,api)', false],
    ['missing notin (web)', true],
    ['app', true],
    ['!app', false],
    ['!missing', true],
    ['size>5', true],
    ['size<5', false],
    ['app in (web),tier=front,!missing', true],
    ['app in (web),tier=back', false],
  ])('%s is %s', (text, expected) => {
    expect(parseLabelSelector(text)?.(labels)).toBe(expected);
  });

  it.each(['app in web', '=x', 'a=b=c', 'app=white space'])('%s is a bad request', (text) => {
    expect(() => parseLabelSelector(text)).toThrow(expect.objectContaining({ code: 400 }) as Error);
  });

  it('are undefined for empty text, which selects everything', () => {
    expect(parseLabelSelector('')).toBeUndefined();
  });

  it('as objects: an absent one matches nothing, an empty one everything', () => {
    expect(labelSelectorPredicate(undefined)(labels)).toBe(false);
    expect(labelSelectorPredicate({})(labels)).toBe(true);
    const expressions = [{ key: 'tier', operator: 'NotIn', values: ['back'] }];
    expect(labelSelectorPredicate({ matchLabels: { app: 'web' }, matchExpressions: expressions })(labels)).toBe(true);
  });
});

describe('field selectors', () => {
  const pod: ApiObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', namespace: 'default' },
    spec: { nodeName: 'n1' },
    status: { phase: 'Running' },
  };
  const selectable = selectableFields(['spec.nodeName', 'status.phase', 'spec.unschedulable'], true);

  it.each([
    ['spec.nodeName=n1', true],
    ['spec.nodeName!=n1', false],
    ['spec.nodeName=', false],
    ['metadata.name=a,status.phase!=Failed', true],
    ['spec.unschedulable=false', true],
  ])('%s is %s', (text, expected) => {
    expect(parseFieldSelector(text, selectable, false)?.(pod)).toBe(expected);
  });

  it('with an unsupported field are bad requests', () => {
    expect(() => parseFieldSelector('spec.hostname=x', selectable, false)).toThrow(
      'field label not supported: spec.hostname',
    );
  });
});

describe('errors of label selectors', () => {
  it.each([
    [',', "found ',', expected: !, identifier, or 'end of string'"],
    ['app in web', "unable to parse requirement: found 'web' expected: '('"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=b,', "found '', expected: identifier after ','"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    [
      'a>x',
      "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
  ])('%s', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(message);
  });
});
