import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../src/api/yaml/parseYaml.ts';
import { optionTable } from '../../src/options/optionTable.ts';
import { renderChart, renderTemplate } from './renderChart.ts';

const CHART = join(import.meta.dirname, '../../charts/nodewright');
const RELEASE = { Name: 'node', Namespace: 'kube-system' };
const IMAGE = { image: { repository: 'images/nodewright' } };

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

function rulesOf(cloudProvider: string, values: object = {}): readonly Rule[] {
  const objects = renderChart(CHART, { ...IMAGE, cloudProvider, ...values }, RELEASE);
  const role = objects.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'nodewright');
  return (role as unknown as { readonly rules: readonly Rule[] }).rules;
}

describe('the chart', () => {
  it('has the version of the package', () => {
    const read = (path: string): string => readFileSync(join(CHART, path), 'utf8');
    const { version } = JSON.parse(read('../../package.json')) as { version: string };
    expect(parseYaml(read('Chart.yaml'))).toMatchObject({ version, appVersion: version });
    expect(parseYaml(read('values.yaml'))).toMatchObject({ image: { tag: version } });
  });

  it('installs an account, its rights, the program, its budget and its metrics', () => {
    const objects = renderChart(CHART, IMAGE, RELEASE);
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'ClusterRole nodewright',
      'ClusterRoleBinding nodewright',
      'ClusterRole nodewright-admin',
      'Deployment nodewright',
      'PodDisruptionBudget nodewright',
      'Role nodewright',
      'RoleBinding nodewright',
      'Service nodewright',
      'ServiceAccount nodewright',
    ]);
  });

  it('passes settings and labels through', () => {
    const settings = { CLUSTER_NAME: 'mine', KUBE_CLIENT_QPS: 50 };
    const podLabels = { 'azure.workload.identity/use': 'true' };
    const objects = renderChart(CHART, { ...IMAGE, settings, podLabels }, RELEASE);
    const deployment = objects.find(({ kind }) => kind === 'Deployment');
    expect(deployment).toMatchObject({
      spec: {
        template: {
          metadata: { labels: { 'azure.workload.identity/use': 'true', 'app.kubernetes.io/instance': 'node' } },
          spec: {
            containers: [
              {
                image: 'images/nodewright:0.1.0',
                args: ['run', '--cloud-provider=azure', '--placement-hints=auto'],
                env: expect.arrayContaining([
                  { name: 'CLUSTER_NAME', value: 'mine' },
                  { name: 'KUBE_CLIENT_QPS', value: '50' },
                ]) as unknown,
              },
            ],
          },
        },
      },
    });
  });

  it('sets only variables that the program knows', () => {
    const [deployment] = renderChart(CHART, IMAGE, RELEASE).filter(({ kind }) => kind === 'Deployment');
    const text = JSON.stringify(deployment);
    const known = new Set(Object.values(optionTable).map(({ env }) => env));
    const set = [...text.matchAll(/"name":"([A-Z_]+)"/g)].map(([, name = '']) => name);
    expect(set.length).toBeGreaterThan(0);
    for (const name of set) expect(known).toContain(name);
  });

  it('says what is missing', () => {
    expect(() => renderChart(CHART, {}, RELEASE)).toThrow(/image\.repository must say where/);
  });

  it.each(['azure', 'kwok'])('gives %s no right to secrets, to everything, or to more than it names', (provider) => {
    for (const { apiGroups, resources, verbs } of rulesOf(provider)) {
      expect([...apiGroups, ...resources, ...verbs]).not.toContain('*');
      expect(resources).not.toContain('secrets');
      expect(resources).not.toContain('configmaps');
    }
  });

  it('may write the status of pods only for placement hints', () => {
    const mayWrite = (placementHints: string): boolean =>
      rulesOf('azure', { placementHints }).some(({ resources }) => resources.includes('pods/status'));
    expect([mayWrite('auto'), mayWrite('off')]).toEqual([true, false]);
  });

  it('lets only kwok create Nodes', () => {
    const mayCreateNodes = (provider: string): boolean =>
      rulesOf(provider).some(({ resources, verbs }) => resources.includes('nodes') && verbs.includes('create'));
    expect([mayCreateNodes('azure'), mayCreateNodes('kwok')]).toEqual([false, true]);
  });
});

it('refuses what Helm would do and this renderer would not', () => {
  expect(() => renderTemplate('{{ include "x" . }}', {})).toThrow(/more than this renderer knows/);
  expect(() => renderTemplate('{{ .Values.x }}', { Values: {} })).toThrow(/has no value/);
  expect(renderTemplate('a\n{{- if eq .A "1" }}\nb\n{{- end }}\nc', { A: '2' })).toBe('a\nc');
});
