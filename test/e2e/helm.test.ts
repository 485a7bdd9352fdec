/** The charts under real helm: linted, rendered as our own renderer does, and installed into the local AKS. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderChart, type Manifest } from '../../src/aks/renderChart.ts';
import { Kinds } from '../../src/api/kinds.ts';
import { parseYamlDocuments } from '../../src/api/yaml/parseYaml.ts';
import { eventually } from '../controlplane/eventually.ts';
import { PATIENCE, UpProcess } from '../fixtures/local/upProcess.ts';
import { ensureHelm } from '../helm/helmBinary.ts';

const CHARTS = join(import.meta.dirname, '../../charts');
const CHART = join(CHARTS, 'nodewright');
const RELEASE = { Name: 'karpenter', Namespace: 'kube-system' };
const IMAGE = { repository: 'images.example/nodewright' };

/** As the values of a self-hosted karpenter are written. */
const KARPENTER = {
  image: IMAGE,
  replicas: 1,
  strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
  controller: {
    env: [
      { name: 'DISABLE_LEADER_ELECTION', value: 'true' },
      { name: 'VNET_SUBNET_ID', value: '/subscriptions/s/resourceGroups/g/virtualNetworks/v/subnets/n' },
      { name: 'KUBELET_BOOTSTRAP_TOKEN', valueFrom: { secretKeyRef: { name: 'token', key: 'token' } } },
    ],
    resources: { requests: { cpu: '200m', memory: '256Mi' }, limits: { memory: '512Mi' } },
  },
  serviceAccount: { name: 'karpenter-sa', annotations: { 'azure.workload.identity/client-id': 'abc' } },
  podLabels: { 'azure.workload.identity/use': 'true' },
  settings: {
    clusterName: 'mine',
    clusterEndpoint: 'https://mine.hcp.eastus.azmk8s.io:443',
    tags: { team: 'web', cost: 1 },
    featureGates: { nodeRepair: true, staticCapacity: true },
  },
  logLevel: 'debug',
};

const VALUES: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ['the defaults', { image: IMAGE }],
  ['the values of a karpenter', KARPENTER],
  [
    'monitoring, an account of the user and a discovered token',
    {
      image: IMAGE,
      serviceMonitor: { enabled: true, additionalLabels: { release: 'p' }, endpointConfig: { interval: '15s' } },
      serviceAccount: { create: false, name: 'own' },
      settings: { discoverBootstrapToken: true },
    },
  ],
  [
    'kwok, with placement, budget and mounts of the user',
    {
      image: IMAGE,
      cloudProvider: 'kwok',
      placementHints: 'off',
      dashboardPort: '8082',
      podDisruptionBudget: { name: 'budget', maxUnavailable: 2 },
      topologySpreadConstraints: [
        { maxSkew: 2, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
      ],
      affinity: {},
      tolerations: [],
      controller: { extraVolumeMounts: [{ name: 'x', mountPath: '/x' }] },
      extraVolumes: [{ name: 'x', emptyDir: {} }],
    },
  ],
];

describe('helm', () => {
  let program: string;
  let folder: string;
  const helm = async (args: readonly string[], kubeconfig = ''): Promise<string> => {
    const env = { ...process.env, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, KUBECONFIG: kubeconfig };
    return (await promisify(execFile)(program, args, { env, maxBuffer: 2 ** 26 })).stdout;
  };
  const written = async (name: string, values: object): Promise<string> => {
    const path = join(folder, `${name}.json`);
    await writeFile(path, JSON.stringify(values));
    return path;
  };

  beforeAll(async () => {
    program = await ensureHelm((line) => console.error(line));
    folder = await mkdtemp(join(tmpdir(), 'nodewright-helm-'));
  }, 600_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('finds nothing wrong with the charts', async () => {
    const values = await written('lint', { image: IMAGE });
    expect(await helm(['lint', '--strict', CHART, '--values', values])).toContain('0 chart(s) failed');
    expect(await helm(['lint', '--strict', join(CHARTS, 'nodewright-crd')])).toContain('0 chart(s) failed');
    await expect(helm(['template', CHART])).rejects.toThrow(/image\.repository must say where/);
  });

  it.each(VALUES)('renders %s as our own renderer does', async (name, values) => {
    const path = await written(name.replaceAll(/\W/g, '-'), values);
    const text = await helm(['template', RELEASE.Name, CHART, '--namespace', RELEASE.Namespace, '--values', path]);
    const rendered = parseYamlDocuments(text).filter((each) => each !== null) as unknown as readonly Manifest[];
    const byName = (objects: readonly Manifest[]): Manifest[] =>
      objects.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
    expect(byName(rendered)).toEqual(byName(renderChart(CHART, values, RELEASE)));
  });

  it('installs, upgrades and removes the program in the local AKS', async () => {
    const up = new UpProcess();
    try {
      await up.start();
      const kubeconfig = join(up.folder, 'kubeconfig');
      const at = ['--namespace', RELEASE.Namespace];
      const values = await written('install', KARPENTER);
      // The definitions are there already: this takes them over, as an upgrade does.
      await helm(['install', 'crds', join(CHARTS, 'nodewright-crd'), ...at, '--take-ownership'], kubeconfig);
      await helm(
        ['install', RELEASE.Name, CHART, ...at, '--values', values, '--wait', '--timeout', `${PATIENCE}ms`],
        kubeconfig,
      );
      const ready = async (): Promise<{ readonly env: string; readonly pods: number } | undefined> => {
        const { status, spec } = await up.kube.get(Kinds.Deployment, {
          namespace: RELEASE.Namespace,
          name: 'nodewright',
        });
        if (status?.readyReplicas !== 1) return undefined;
        return { env: JSON.stringify(spec?.template.spec?.containers[0]?.env), pods: status.readyReplicas };
      };
      expect((await ready())?.env).toContain('NodeRepair=true');
      const upgrade = ['upgrade', RELEASE.Name, CHART, ...at, '--values', values];
      await helm([...upgrade, '--set', 'settings.featureGates.nodeRepair=false'], kubeconfig);
      const after = await eventually('the upgraded program is ready', ready, PATIENCE);
      expect(after.env).toContain('NodeRepair=false');
      await helm(['uninstall', RELEASE.Name, ...at, '--wait', '--timeout', `${PATIENCE}ms`], kubeconfig);
      await expect(ready()).rejects.toThrow(/not found/);
    } finally {
      await up.remove();
    }
  }, 600_000);
});

function nameOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}
