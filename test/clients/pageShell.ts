/**
 * A shell for the commands of the pages, with everything they refer to: a local AKS, files, and clusters named `shop`.
 */
import { spawn } from 'node:child_process';
import { chmod, cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Kinds } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { eventually } from '../controlplane/eventually.ts';
import { ensureBinaries } from '../controlplane/binaries.ts';
import { ROOT } from '../docs/commands.ts';
import { PATIENCE, UpProcess } from '../fixtures/local/upProcess.ts';
import type { Outcome } from '../fixtures/local/realClients.ts';
import { CLAIM, EKS, karpenterOf, NEW_POOL, podNamed, POOL, webOf } from './pageObjects.ts';

const SHOP = '--resource-group shop --name shop';
const NODES = '--node-count 2 --node-vm-size Standard_D8s_v5 --network-plugin azure --enable-oidc-issuer --no-ssh-key';

/** Prerequisites of a command that earlier commands did not create. */
const BEFORE: readonly { readonly page: string; readonly command: RegExp; readonly script: string }[] = [
  {
    page: 'docs/install.md',
    command: /^nodewright aks check .* --managed$/,
    script: `az group create --name shop --location eastus -o none && az aks create ${SHOP} ${NODES} -o none`,
  },
  {
    page: 'docs/install.md',
    command: /^nodewright aks check --resource-group shop --name shop$/,
    script: `nodewright aks disable ${SHOP} --drain`,
  },
  {
    page: 'docs/migration.md',
    command: /^nodewright migrate karpenter .*--dry-run$/,
    script: `az aks get-credentials ${SHOP} --file shop && kubectl --kubeconfig shop apply -f karpenter.json`,
  },
  {
    page: 'docs/migration.md',
    command: /^nodewright migrate agent-pools .*--dry-run$/,
    script:
      'az aks nodepool add --resource-group shop --cluster-name shop --name apps --node-count 3 --node-vm-size Standard_D2s_v5 -o none',
  },
  {
    page: 'docs/nap.md',
    command: /^npx nodewright az deployment group create/,
    script: 'cp template.json cluster.json',
  },
  { page: 'docs/plan.md', command: /--snapshot cluster\.json/, script: 'nodewright snapshot save cluster.json' },
  {
    page: 'docs/local-aks.md',
    command: /deployment\/renderer/,
    script: 'kubectl create deployment renderer --image=nginx',
  },
];

export class PageShell {
  private readonly up = new UpProcess('--speed', '5');
  private get folder(): string {
    return join(this.up.folder, 'pages');
  }

  async start(): Promise<void> {
    await this.up.start();
    const { folder } = this;
    const bin = join(folder, 'bin');
    await mkdir(bin, { recursive: true });
    const program = (name: string, line: string): Promise<void> => executable(join(bin, name), line);
    await program('nodewright', `exec '${process.execPath}' '${join(ROOT, 'dist/nodewright.js')}' "$@"`);
    await program('npx', 'exec "$@"');
    await program('kubectl', `exec '${(await ensureBinaries()).kubectl}' "$@"`);
    await symlink(this.up.folder, join(folder, '.nodewright'));
    await symlink(join(ROOT, 'charts'), join(folder, 'charts'));
    await cp(join(ROOT, 'test/fixtures/local/napClusterTemplate.json'), join(folder, 'template.json'));
    const web = webOf('web', 3);
    for (const [name, objects] of [
      ['manifests/web.json', [web]],
      ['deploy/web.json', [web]],
      ['eks/pools.json', EKS],
      ['new-nodepool.yaml', [NEW_POOL]],
      ['karpenter.json', karpenterOf('karpenter')],
    ] as const) {
      await mkdir(join(folder, name, '..'), { recursive: true });
      await writeFile(join(folder, name), JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    }
    await this.furnish();
    const signedIn = await this.bash('azure_sign_in');
    if (signedIn.code !== 0) throw new Error(`az does not sign in: ${signedIn.stderr}`);
  }

  /** Runs a command of a page unchanged, after its prerequisites. */
  async run(page: string, command: string): Promise<Outcome> {
    const before = BEFORE.find((each) => each.page === page && each.command.test(command));
    if (before !== undefined) {
      const prepared = await this.bash(before.script);
      if (prepared.code !== 0) throw new Error(`${before.script} failed: ${prepared.stderr}${prepared.stdout}`);
    }
    return this.bash(command);
  }

  async close(): Promise<void> {
    await rm(join(this.folder, '.nodewright'), { force: true });
    await this.up.remove();
  }

  /** Creates the objects named on the pages in the initial cluster. */
  private async furnish(): Promise<void> {
    const { kube } = this.up;
    await kube.create(Kinds.Namespace, { metadata: { name: 'shop' } });
    await kube.create(Kinds.ServiceAccount, { metadata: { name: 'viewer', namespace: 'default' } });
    await kube.create(Kinds.NodePool, POOL);
    await kube.create(Kinds.NodeClaim, CLAIM);
    for (const namespace of ['default', 'shop']) await kube.create(Kinds.Pod, podNamed('web-5d9f7-x2x4q', namespace));
    await eventually(
      'the node of the claim is there',
      async () => {
        const { items } = await kube.list(Kinds.Node);
        const found = items.find(({ metadata }) => metadata.name === 'aks-general-7k2lp');
        return found?.metadata.labels?.[Labels.initialized] === 'true' ? true : undefined;
      },
      PATIENCE,
    );
  }

  private bash(script: string): Promise<Outcome> {
    const { folder, up } = this;
    const shop = `/subscriptions/${up.azure('AZURE_SUBSCRIPTION_ID')}/resourceGroups/shop/providers/Microsoft.ContainerService/managedClusters/shop`;
    const env = {
      PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
      HOME: folder,
      AZURE_CONFIG_DIR: join(folder, 'az'),
      KUBECONFIG: join(up.folder, 'kubeconfig'),
      CLUSTER_ID: shop,
      ISSUER: 'https://issuer.example/',
    };
    // Commands that ask for confirmation are answered no.
    const words = ['-c', `source .nodewright/azure.env; set -eo pipefail; exec <<< n; ${script}`];
    return new Promise((resolve, reject) => {
      const child = spawn('bash', words, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let [stdout, stderr] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    });
  }
}

async function executable(path: string, line: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${line}\n`);
  await chmod(path, 0o755);
}
