import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../src/api/yaml/parseYaml.ts';
import { optionTable } from '../../src/options/optionTable.ts';
import { parseOptions } from '../../src/options/parseOptions.ts';
import { neededRights } from '../../src/rehearsal/neededRights.ts';
import { renderChart, renderTemplate } from '../../src/aks/renderChart.ts';

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

  const deploymentOf = (values: Readonly<Record<string, unknown>>) =>
    renderChart(CHART, { ...IMAGE, ...values }, RELEASE).find(({ kind }) => kind === 'Deployment') as unknown as {
      readonly spec: {
        readonly template: {
          readonly metadata: object;
          readonly spec: { readonly containers: readonly { readonly env: readonly object[] }[] };
        };
      };
    };

  it('takes the values that a self-hosted karpenter is installed with', () => {
    const values = {
      replicas: 1,
      serviceAccount: { name: 'karpenter-sa', annotations: { 'azure.workload.identity/client-id': 'abc' } },
      podLabels: { 'azure.workload.identity/use': 'true' },
      controller: {
        env: [
          { name: 'VNET_SUBNET_ID', value: 'subnet' },
          { name: 'KUBELET_BOOTSTRAP_TOKEN', valueFrom: { secretKeyRef: { name: 'token', key: 'token' } } },
        ],
        resources: { requests: { cpu: '200m', memory: '256Mi' }, limits: { memory: '512Mi' } },
      },
      settings: {
        clusterName: 'mine',
        clusterEndpoint: 'https://mine.hcp.eastus.azmk8s.io:443',
        tags: { team: 'web', cost: 1 },
        featureGates: { staticCapacity: true },
      },
    };
    const { template } = deploymentOf(values).spec;
    expect(template).toMatchObject({
      metadata: { labels: { 'azure.workload.identity/use': 'true', 'app.kubernetes.io/instance': 'node' } },
      spec: {
        serviceAccountName: 'karpenter-sa',
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'topology.kubernetes.io/zone',
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: { 'app.kubernetes.io/instance': 'node' } },
          },
        ],
        containers: [
          {
            image: 'images/nodewright:0.1.0',
            args: ['run', '--cloud-provider=azure', '--placement-hints=auto'],
            resources: values.controller.resources,
          },
        ],
      },
    });
    const env = template.spec.containers[0]?.env ?? [];
    expect(env).toEqual(expect.arrayContaining(values.controller.env));
    expect(env).toEqual(
      expect.arrayContaining([
        { name: 'CLUSTER_NAME', value: 'mine' },
        { name: 'CLUSTER_ENDPOINT', value: 'https://mine.hcp.eastus.azmk8s.io:443' },
        { name: 'ADDITIONAL_TAGS', value: 'cost=1,team=web,' },
        { name: 'BATCH_IDLE_DURATION', value: '1s' },
        { name: 'LOG_OUTPUT_PATHS', value: 'stdout' },
        {
          name: 'FEATURE_GATES',
          value:
            'ReservedCapacity=true,SpotToSpotConsolidation=false,NodeRepair=false,NodeOverlay=false,StaticCapacity=true,CapacityBuffer=false',
        },
      ]),
    );
    const objects = renderChart(CHART, { ...IMAGE, ...values }, RELEASE);
    const names = objects.filter(({ kind }) => kind === 'ServiceAccount').map(({ metadata }) => metadata.name);
    expect(names).toEqual(['karpenter-sa']);
    for (const binding of objects.filter(({ kind }) => kind.endsWith('Binding'))) {
      expect(binding).toMatchObject({ subjects: [{ name: 'karpenter-sa' }] });
    }
  });

  it('completes anti-affinity and spread that do not say which pods they mean, and keeps those that do', () => {
    const own = { matchLabels: { app: 'other' } };
    const hostname = { topologyKey: 'kubernetes.io/hostname' };
    const zone = { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' };
    const terms = [hostname, { topologyKey: zone.topologyKey, labelSelector: own }];
    const { spec } = deploymentOf({
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
      topologySpreadConstraints: [zone, { ...zone, minDomains: 2, labelSelector: own }],
    }).spec.template;
    const labelSelector = {
      matchLabels: { 'app.kubernetes.io/name': 'nodewright', 'app.kubernetes.io/instance': 'node' },
    };
    expect(spec).toMatchObject({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ ...hostname, labelSelector }, terms[1]],
        },
      },
      topologySpreadConstraints: [
        { ...zone, labelSelector },
        { ...zone, minDomains: 2, labelSelector: own },
      ],
    });
  });

  it('takes more rights, containers and mounts, as the chart of karpenter does', () => {
    const rule = { apiGroups: ['example.com'], resources: ['things'], verbs: ['get'] };
    const mount = { name: 'certificates', mountPath: '/certificates' };
    const values = {
      additionalClusterRoleRules: [rule],
      initContainers: [{ name: 'wait', image: 'wait' }],
      controller: { extraVolumeMounts: [mount], sidecarVolumeMounts: [{ ...mount, mountPath: '/shared' }] },
    };
    const role = renderChart(CHART, { ...IMAGE, ...values }, RELEASE).find(({ kind }) => kind === 'ClusterRole');
    expect((role as unknown as { readonly rules: readonly object[] }).rules).toContainEqual(rule);
    expect(deploymentOf(values).spec.template.spec).toMatchObject({
      initContainers: values.initContainers,
      containers: [{ volumeMounts: [mount, { ...mount, mountPath: '/shared' }] }],
    });
  });

  it('may list bootstrap tokens, in kube-system, only where nodes join with one that is discovered', () => {
    const grants = (values: object): readonly string[] =>
      renderChart(CHART, { ...IMAGE, ...values }, RELEASE)
        .filter((object) => JSON.stringify(object).includes('secrets'))
        .map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`);
    expect(grants({})).toEqual([]);
    const settings = { discoverBootstrapToken: true };
    expect(grants({ settings })).toEqual(['Role kube-system/nodewright-bootstrap-tokens']);
    const env = deploymentOf({ settings }).spec.template.spec.containers[0]?.env ?? [];
    expect(env).toContainEqual({ name: 'KUBELET_BOOTSTRAP_TOKEN', value: 'auto' });
  });

  it('parses what it sets: every variable is valid for the program', () => {
    const env = deploymentOf({}).spec.template.spec.containers[0]?.env ?? [];
    const environment = Object.fromEntries(
      (env as readonly { readonly name: string; readonly value?: string }[])
        .filter(({ value }) => value !== undefined)
        .map(({ name, value = '' }) => [name, value]),
    );
    const { warnings } = parseOptions({ flags: {}, environment: { ...environment, CLOUD_PROVIDER: 'kwok' } });
    expect(warnings).toEqual([]);
  });

  it('brings a ServiceMonitor and leaves the account out where it is told so', () => {
    const values = {
      serviceMonitor: { enabled: true, sampleLimit: 9 },
      serviceAccount: { create: false, name: 'own' },
    };
    const objects = renderChart(CHART, { ...IMAGE, ...values }, RELEASE);
    expect(objects.find(({ kind }) => kind === 'ServiceMonitor')).toMatchObject({
      spec: { sampleLimit: 9, endpoints: [{ port: 'http-metrics', path: '/metrics' }] },
    });
    expect(objects.some(({ kind }) => kind === 'ServiceAccount')).toBe(false);
    expect(deploymentOf(values).spec.template.spec).toMatchObject({ serviceAccountName: 'own' });
  });

  it('runs another build by tag and digest', () => {
    const image = { repository: 'other/nodewright', tag: '1.2.3', digest: 'sha256:abc' };
    const [container] = deploymentOf({ controller: { image } }).spec.template.spec.containers;
    expect(container).toMatchObject({ image: 'other/nodewright:1.2.3@sha256:abc' });
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

  it.each(['azure', 'kwok'] as const)('gives %s exactly the rights that doctor looks for', (provider) => {
    const granted = rulesOf(provider).flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`)),
      ),
    );
    const needed = neededRights([provider]).map(
      ({ verb, group, resource, subresource }) =>
        `${verb} ${group}/${resource}${subresource === undefined ? '' : `/${subresource}`}`,
    );
    expect(needed.toSorted()).toEqual(granted.toSorted());
  });

  it('may write the status of pods only for placement hints', () => {
    const mayWrite = (placementHints: string): boolean =>
      rulesOf('azure', { placementHints }).some(({ resources }) => resources.includes('pods/status'));
    expect([mayWrite('auto'), mayWrite('off')]).toEqual([true, false]);
  });

  it('may review tokens only for the dashboard and profiles', () => {
    const reviews = (values: Readonly<Record<string, unknown>>): string[] =>
      rulesOf('azure', values)
        .flatMap(({ resources }) => resources)
        .filter((resource) => resource.endsWith('reviews'));
    const both = ['tokenreviews', 'subjectaccessreviews'];
    expect(reviews({})).toEqual([]);
    expect(reviews({ dashboardPort: '8082' })).toEqual(both);
    expect(reviews({ profiling: true })).toEqual(both);
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
