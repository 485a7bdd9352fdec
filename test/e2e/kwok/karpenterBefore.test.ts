/** `nodewright migrate karpenter` on a cluster with nodes created by Karpenter's own kwok controller. */
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kinds, type CustomResourceDefinition } from '../../../src/api/kinds.ts';
import { Annotations, Labels } from '../../../src/api/labels.ts';
import { parseYamlDocuments } from '../../../src/api/yaml/parseYaml.ts';
import { SystemClock } from '../../../src/clock/systemClock.ts';
import { systemRandom } from '../../../src/clock/systemRandom.ts';
import { writeAzureEnvironment } from '../../../src/cli/compose/azureEnvironment.ts';
import { LocalArm } from '../../../src/local/arm/localArm.ts';
import { ensureKarpenter, karpenterDefinitions } from '../../upstream/suiteBinary.ts';
import { BINARY } from '../azureProgram.ts';
import { isRunning, KwokCluster, type Program } from './kwokCluster.ts';

const BUILD_LIMIT = 30 * 60_000;
const NAMESPACE = 'kube-system';
const HELM = { 'meta.helm.sh/release-name': 'karpenter-crd', 'meta.helm.sh/release-namespace': NAMESPACE };
const ADDONS = { key: 'CriticalAddonsOnly', operator: 'Exists' };
const STAMPS = [Annotations.nodePoolHash, Annotations.nodePoolHashVersion] as const;

/** Karpenter's own definitions, as its chart leaves them. */
async function ownedByHelm(): Promise<readonly CustomResourceDefinition[]> {
  const found: CustomResourceDefinition[] = [];
  for (const folder of await karpenterDefinitions()) {
    for (const file of await readdir(folder)) {
      for (const document of parseYamlDocuments(await readFile(join(folder, file), 'utf8'))) {
        const crd = document as unknown as CustomResourceDefinition;
        const labels = { 'app.kubernetes.io/managed-by': 'Helm' };
        found.push({ ...crd, metadata: { name: crd.metadata.name, labels, annotations: HELM } });
      }
    }
  }
  return found;
}

describe('a cluster in which Karpenter runs', () => {
  let cluster: KwokCluster;
  let karpenter: Program;
  const arm = new LocalArm({ clock: new SystemClock(), random: systemRandom });

  beforeAll(async () => {
    const program = await ensureKarpenter((line) => console.error(line));
    cluster = await KwokCluster.start(await ownedByHelm());
    await arm.listen();
    const file = (name: string): string => join(cluster.plane.workDir, name);
    const files = { environment: file('azure.env'), certificate: file('azure.pem'), cloud: file('azure.json') };
    await writeAzureEnvironment(files, arm, cluster.plane.server);
    await install();
    karpenter = await cluster.runPeer(program);
  }, BUILD_LIMIT);
  afterAll(async () => {
    await cluster?.stop();
    await arm.close();
  });

  /** Installs what Karpenter's chart installs, and a node for it; the process itself runs outside the cluster. */
  const install = async (): Promise<void> => {
    const { kube } = cluster;
    const room = { cpu: '8', memory: '16Gi', pods: '110' };
    await kube.create(Kinds.Node, {
      metadata: {
        name: 'system',
        labels: { 'kwok.x-k8s.io/node': 'fake', [Labels.os]: 'linux', [Labels.zone]: 'test-zone-a' },
      },
      spec: { taints: [{ key: ADDONS.key, value: 'true', effect: 'NoSchedule' }] },
      status: { capacity: room, allocatable: room },
    });
    await kube.create(Kinds.ServiceAccount, { metadata: { name: 'karpenter', namespace: NAMESPACE } });
    const labels = { app: 'karpenter' };
    await kube.create(Kinds.Deployment, {
      metadata: { name: 'karpenter', namespace: NAMESPACE },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            serviceAccountName: 'karpenter',
            tolerations: [ADDONS],
            containers: [{ name: 'controller', image: 'karpenter:1.14.1' }],
          },
        },
      },
    });
  };
  const migrate = (): Promise<{ readonly code: number | null; readonly output: string }> => {
    const words = [
      'migrate',
      'karpenter',
      '--resource-group',
      'shop',
      '--name',
      'shop',
      '--image',
      'images/nodewright',
    ];
    const place = ['--state-dir', cluster.plane.workDir, '--kubeconfig', cluster.plane.adminKubeconfig];
    const child = spawn(process.execPath, [BINARY, ...words, ...place], { env: { PATH: process.env['PATH'] } });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += String(text)));
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
  };
  const replicasOf = async (name: string): Promise<number | undefined> => {
    const { items } = await cluster.kube.list(Kinds.Deployment, { namespace: NAMESPACE });
    return items.find(({ metadata }) => metadata.name === name)?.spec?.replicas;
  };
  const running = async (app: string, count: number) =>
    cluster.eventually(`${count} pods of ${app} run`, async () => {
      const pods = (await cluster.pods({ app })).filter(isRunning);
      return pods.length === count ? pods : undefined;
    });
  const identities = async () => ({
    nodes: (await cluster.nodes()).map(({ metadata: { name, uid } }) => `${name} ${uid}`).toSorted(),
    claims: (await cluster.claims()).map(({ metadata: { name, uid } }) => `${name} ${uid}`).toSorted(),
    pods: (await cluster.pods({ app: 'web' }))
      .map(({ metadata, spec }) => `${metadata.uid} ${spec?.nodeName}`)
      .toSorted(),
  });
  const stamps = async () => {
    const { metadata } = await cluster.kube.get(Kinds.NodePool, { name: 'default' });
    return [metadata, ...(await cluster.claims()).map((claim) => claim.metadata)].map(({ annotations }) =>
      STAMPS.map((name) => annotations?.[name]).join(),
    );
  };

  it(
    'is taken over in place: no node, claim or pod is replaced, and nodewright goes on',
    { timeout: 600_000 },
    async () => {
      await cluster.pool('default', {}, {}, { team: 'web' });
      await cluster.deployment('web', 12);
      await running('web', 12);
      await cluster.eventually('Karpenter has initialised its nodes', async () => {
        const nodes = await cluster.nodes({ [Labels.nodePool]: 'default' });
        return nodes.every(({ metadata }) => metadata.labels?.[Labels.initialized] === 'true') ? true : undefined;
      });
      const before = await identities();
      expect(before.claims.length).toBeGreaterThan(0);
      const stamped = await stamps();
      expect(new Set(stamped).size).toBe(1);

      const migrated = migrate();
      // The processes follow their Deployments, as pods would.
      await cluster.eventually('Karpenter is stopped', async () =>
        (await replicasOf('karpenter')) === 0 ? true : undefined,
      );
      await karpenter.end();
      expect(await migrated).toMatchObject({ code: 0 });
      expect(await replicasOf('nodewright')).toBe(1);
      const program = await cluster.runWithAllRights();

      await cluster.deployment('more', 12);
      await running('more', 12);
      await cluster.eventually('nodewright has bought a node of its own', async () =>
        (await cluster.claims()).length > before.claims.length ? true : undefined,
      );
      const after = await identities();
      expect(after.nodes).toEqual(expect.arrayContaining(before.nodes));
      expect(after.claims).toEqual(expect.arrayContaining(before.claims));
      expect(after.pods).toEqual(before.pods);
      // nodewright computes the same hashes as Karpenter, so its own claims carry them too.
      expect(new Set(await stamps())).toEqual(new Set(stamped));
      const drifted = (await cluster.claims()).filter(({ status }) =>
        status?.conditions?.some(({ type, status: state }) => type === 'Drifted' && state === 'True'),
      );
      expect(drifted).toEqual([]);
      expect(await program.metric('karpenter_nodeclaims_disrupted_total')).toBe(0);
      const { items } = await cluster.kube.list(Kinds.CustomResourceDefinition);
      const theirs = items.filter(({ metadata }) => metadata.name.endsWith('.karpenter.sh'));
      expect(theirs.length).toBeGreaterThan(1);
      for (const { metadata } of theirs) expect(metadata.annotations).toMatchObject(HELM);
    },
  );
});
