import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bundledInstanceTypes } from '../catalogue/bundledCatalogue.ts';
import { planNoteText } from '../ledger/planNoteText.ts';
import { solve } from '../solver/solve.ts';
import { planProblem } from './planProblem.ts';
import { planReport } from './planReport.ts';
import { planTable } from './planTable.ts';
import { readManifests } from './readManifests.ts';

const few = bundledInstanceTypes({ region: 'eastus' }).filter(({ name }) => /D(4|8|16)s_v5$/.test(name));

const pod = (spec: object): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', labels: { app: 'a' } },
  spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }], ...spec },
});
const read = (...objects: object[]) =>
  readManifests(objects.map((object, index) => ({ source: `${index}.json`, text: JSON.stringify(object) })));

/** Plausible pieces in wrong places find more defects than random bytes. */
const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    null,
    '',
    'kubernetes.io/hostname',
    'topology.kubernetes.io/zone',
    'In',
    -1,
    0,
    1e300,
    [],
    {},
    [{}],
    [[]],
  ),
);
const selector = fc.oneof(
  junk,
  fc.record({ matchLabels: junk, matchExpressions: fc.array(fc.record({ key: junk, operator: junk, values: junk })) }),
);
const podTerm = fc.record({
  topologyKey: junk,
  labelSelector: selector,
  namespaceSelector: selector,
  namespaces: junk,
});
const spec = fc.record(
  {
    nodeSelector: junk,
    tolerations: fc.oneof(junk, fc.array(fc.record({ key: junk, operator: junk, value: junk, effect: junk }))),
    topologySpreadConstraints: fc.array(
      fc.record({
        maxSkew: junk,
        topologyKey: junk,
        whenUnsatisfiable: junk,
        labelSelector: selector,
        minDomains: junk,
      }),
      { maxLength: 2 },
    ),
    affinity: fc.oneof(
      junk,
      fc.record({
        nodeAffinity: fc.record({
          requiredDuringSchedulingIgnoredDuringExecution: fc.record({
            nodeSelectorTerms: fc.array(fc.record({ matchExpressions: junk, matchFields: junk })),
          }),
        }),
        podAntiAffinity: fc.record({
          requiredDuringSchedulingIgnoredDuringExecution: fc.array(podTerm, { maxLength: 2 }),
        }),
      }),
    ),
    priority: junk,
    hostNetwork: junk,
    overhead: junk,
    volumes: junk,
    initContainers: fc.oneof(junk, fc.array(fc.record({ resources: junk, ports: junk, restartPolicy: junk }))),
    containers: fc.oneof(
      junk,
      fc.array(fc.record({ resources: fc.record({ requests: junk, limits: junk }), ports: junk })),
    ),
  },
  { requiredKeys: [] },
);

describe('a plan', () => {
  it('can be made from any input, with one line per mistake', () => {
    fc.assert(
      fc.property(spec, (extra) => {
        const input = read(pod({}), pod(extra), { ...pod(extra), metadata: { name: 'b' } });
        expect(input.pods.length + input.mistakes.length).toBeGreaterThanOrEqual(1);
        expect(input.mistakes.every(({ message, line }) => !message.includes('\n') && line >= 1)).toBe(true);
        const { problem } = planProblem(input, { region: 'eastus', instanceTypes: few });
        const solution = solve(problem, { searchRounds: 5 });
        const report = planReport(solution, 0, true);
        const placed = report.nodes.flatMap(({ pods }) => pods).length;
        expect(placed + report.unschedulable.length).toBe(input.pods.length);
        expect(planTable(report, true)).toMatch(/\n$/);
      }),
      { numRuns: 300 },
    );
  });

  it('reports its assumptions', () => {
    const pool = (name: string, extra: object): object => ({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name },
      spec: {
        template: {
          spec: {
            nodeClassRef: { group: 'karpenter.azure.com', kind: 'AKSNodeClass', name: 'special' },
            requirements: [],
          },
        },
        ...extra,
      },
    });
    const notes = (...objects: object[]): readonly string[] =>
      planProblem(read(...objects), { region: 'eastus' }).notes.map(planNoteText);
    expect(notes()).toEqual(["No NodePool is given: planned with AKS's default one (family D, amd64)."]);
    expect(notes(pool('fixed', { replicas: 3 }), pool('usual', {}))).toEqual([
      'NodePool fixed keeps a fixed number of nodes; it buys none for pods.',
      'NodePool usual: AKSNodeClass special is not given; planned with the defaults.',
    ]);
    const special = { apiVersion: 'karpenter.azure.com/v1beta1', kind: 'AKSNodeClass', metadata: { name: 'special' } };
    expect(notes(pool('usual', {}), special)).toEqual([]);
  });

  it('keeps sizes out that a class cannot use', () => {
    const override = {
      forwardDestination: 'VnetDNS',
      forwardPolicy: 'Sequential',
      maxConcurrent: 1000,
      protocol: 'PreferUDP',
      queryLogging: 'Error',
      cacheDuration: '1h',
      serveStale: 'Immediate',
      serveStaleDuration: '1h',
    };
    const zones = {
      '.': override,
      'cluster.local': { ...override, forwardDestination: 'ClusterCoreDNS', protocol: 'ForceTCP' },
    };
    const smallest = (mode: string): number => {
      const input = read({
        apiVersion: 'karpenter.azure.com/v1beta1',
        kind: 'AKSNodeClass',
        metadata: { name: 'default' },
        spec: { localDNS: { mode, vnetDNSOverrides: zonesOf(zones), kubeDNSOverrides: zonesOf(zones) } },
      });
      expect(input.mistakes).toEqual([]);
      const { problem } = planProblem(input, { region: 'eastus' });
      return Math.min(...(problem.pools[0]?.instanceTypes ?? []).map(({ capacity }) => capacity['cpu']?.value() ?? 0));
    };
    expect([smallest('Disabled'), smallest('Required')]).toEqual([2, 4]);
  });
});

/** The class lists overrides by zone. */
function zonesOf(zones: Readonly<Record<string, object>>): object[] {
  return Object.entries(zones).map(([zone, override]) => ({ zone, ...override }));
}
