import { describe, expect, it } from 'vitest';
import { parseSchedulerConfiguration } from './schedulerConfiguration.ts';

const zone = { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' };

function parseList(...constraints: unknown[]) {
  return parseSchedulerConfiguration(JSON.stringify({ podTopologySpread: { defaultConstraints: constraints } }));
}

describe('scheduler configuration', () => {
  it('reads YAML', () => {
    const text = `
podTopologySpread:
  defaultConstraints:
    - maxSkew: 2
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
      minDomains: 3
      nodeTaintsPolicy: Honor
    - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}
`;
    expect(parseSchedulerConfiguration(text)).toEqual({
      value: {
        defaultConstraints: [
          {
            maxSkew: 2,
            topologyKey: 'topology.kubernetes.io/zone',
            whenUnsatisfiable: 'DoNotSchedule',
            minDomains: 3,
            nodeTaintsPolicy: 'Honor',
          },
          { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
        ],
      },
    });
  });

  it.each([
    '',
    '  \n',
    '{}',
    'podTopologySpread:',
    '{"podTopologySpread": {}}',
    '{"podTopologySpread": {"defaultConstraints": []}}',
  ])('takes %j for no constraints', (text) => {
    expect(parseSchedulerConfiguration(text)).toEqual({ value: { defaultConstraints: [] } });
  });

  it('takes the same key twice when the strictness differs', () => {
    expect(parseList(zone, { ...zone, whenUnsatisfiable: 'DoNotSchedule' })).toHaveProperty('value');
  });

  const path = 'podTopologySpread.defaultConstraints[0]';
  it.each([
    [{ ...zone, maxSkew: 0 }, [`${path}.maxSkew: must be greater than 0, not 0`]],
    [{ ...zone, maxSkew: 1.5 }, [`${path}.maxSkew: must be a whole number`]],
    [{ ...zone, maxSkew: undefined }, [`${path}.maxSkew: is required`]],
    [{ ...zone, topologyKey: '' }, [`${path}.topologyKey: is required`]],
    [
      { ...zone, topologyKey: 'a/b/c' },
      [`${path}.topologyKey: must be a label key such as topology.kubernetes.io/zone`],
    ],
    [{ ...zone, topologyKey: '-x' }, [`${path}.topologyKey: must be a label key such as topology.kubernetes.io/zone`]],
    [
      { ...zone, topologyKey: 'UPPER.io/x' },
      [`${path}.topologyKey: must be a label key such as topology.kubernetes.io/zone`],
    ],
    [{ ...zone, whenUnsatisfiable: 'Never' }, [`${path}.whenUnsatisfiable: must be DoNotSchedule or ScheduleAnyway`]],
    [
      { ...zone, labelSelector: {} },
      [`${path}.labelSelector: must not be set; the selector is deduced from the services and owners of each pod`],
    ],
    [
      { ...zone, matchLabelKeys: ['a'] },
      [`${path}.matchLabelKeys: must not be set; the selector is deduced from the services and owners of each pod`],
    ],
    [{ ...zone, skew: 1 }, [`${path}.skew: is not a known field`]],
    [{ ...zone, nodeAffinityPolicy: 'honor' }, [`${path}.nodeAffinityPolicy: must be Honor or Ignore`]],
    ['text', [`${path}: must be an object`]],
    [null, [`${path}: must be an object`]],
    [
      { maxSkew: -1, other: 1 },
      [
        `${path}.other: is not a known field`,
        `${path}.maxSkew: must be greater than 0, not -1`,
        `${path}.topologyKey: is required`,
        `${path}.whenUnsatisfiable: is required`,
      ],
    ],
  ])('refuses %j', (constraint, problems) => {
    expect(parseList(constraint)).toEqual({ problems });
  });

  it('refuses a repeated pair', () => {
    expect(parseList(zone, { ...zone, maxSkew: 5 })).toEqual({
      problems: [
        'podTopologySpread.defaultConstraints[1]: repeats the pair topology.kubernetes.io/zone with ScheduleAnyway',
      ],
    });
  });

  it.each([
    ['[]', 'must be an object'],
    ['plugins: {}', 'plugins: is not a known field'],
    ['podTopologySpread: {defaultConstraints: {}}', 'podTopologySpread.defaultConstraints: must be a list'],
    ['podTopologySpread: {}\npodTopologySpread: {}', 'cannot be read: duplicated mapping key'],
    ['a: [', 'cannot be read: '],
    ['a: *nowhere', 'cannot be read: '],
    [
      `a: &a [1]\n${'bcdefg'.replace(
        /./g,
        (key) =>
          `${key}: &${key} [${Array(12)
            .fill(`*${String.fromCharCode(key.charCodeAt(0) - 1)}`)
            .join()}]\n`,
      )}`,
      'cannot be read: its aliases multiply beyond measure',
    ],
    ['a: 1\n---\nb: 2', 'cannot be read: '],
  ])('refuses %j', (text, problem) => {
    const outcome = parseSchedulerConfiguration(text);
    expect('problems' in outcome ? outcome.problems[0] : undefined).toMatch(problem);
  });
});
