/** Composition root of `nodewright aks` and `nodewright migrate`: Azure, the cluster's API server, the chart. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ClientSecretCredential } from '@azure/identity';
import { checkCluster, type CheckResult } from '../../aks/checks.ts';
import { armPort } from '../../aks/armPort.ts';
import type { AksContext, EnableOptions } from '../../aks/enable.ts';
import { RELEASE } from '../../aks/installSteps.ts';
import {
  allowsSideBySide,
  readCluster,
  readKubeconfig,
  settle,
  type ManagedCluster,
} from '../../aks/managedCluster.ts';
import { renderChart, type Manifest } from '../../aks/renderChart.ts';
import { environmentAt } from '../../azure/azureEnvironment.ts';
import { createAzureClients, type AzureClientsOptions } from '../../azure/clients.ts';
import { SystemClock } from '../../clock/systemClock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import { InvariantError } from '../../errors/invariantError.ts';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import { HttpKube } from '../../kube/httpKube.ts';
import { loadKubeconfig } from '../../kube/kubeconfig.ts';
import { azureCloud } from './azureCloud.ts';
import { readAzureEnvironment } from './azureEnvironment.ts';

export { disableSteps } from '../../aks/disable.ts';
export { enableSteps, managedSteps } from '../../aks/enable.ts';
export { fromKarpenterSteps, toManagedSteps } from '../../aks/takeover.ts';
export { aksStatus } from '../../aks/status.ts';
export { toSelfHostedSteps } from '../../aks/toSelfHosted.ts';
export { backSteps, waveSteps } from '../../aks/waves.ts';

export interface AksAddress {
  readonly resourceGroup: string;
  readonly name: string;
  readonly subscription?: string;
  /** For a local world. */
  readonly stateDir?: string;
  readonly kubeconfig?: string;
}

export interface OpenedAks {
  readonly readCluster: () => Promise<ManagedCluster>;
  /** Waits for pending operations, at most this many milliseconds. */
  readonly settle: (timeout: number, onWait: (what: string, state: string) => void) => Promise<void>;
  /** Checks whether the cluster meets the requirements. */
  readonly check: (kind: 'self-hosted' | 'managed') => Promise<readonly CheckResult[]>;
  /** Also connects to the API server. */
  readonly context: () => Promise<AksContext>;
}

export async function openAks(address: AksAddress): Promise<OpenedAks> {
  const clock = new SystemClock();
  const cloud = await azureOf(address);
  const { rest } = createAzureClients({ ...cloud, clock, random: systemRandom });
  const arm = armPort(rest, clock);
  const name = { subscriptionId: cloud.subscriptionId, resourceGroup: address.resourceGroup, name: address.name };
  return {
    readCluster: () => readCluster(arm, name),
    settle: (timeout, onWait) => settle({ arm, clock, name, timeout, onWait }),
    check: async (kind) => {
      const cluster = await readCluster(arm, name);
      return checkCluster(cluster, kind, { sideBySide: kind === 'managed' && (await allowsSideBySide(arm, name)) });
    },
    context: async () => {
      const config =
        address.kubeconfig === undefined
          ? await configFrom(await readKubeconfig(arm, name))
          : await loadKubeconfig({ path: address.kubeconfig });
      return { arm, kube: new HttpKube({ config, clock, random: systemRandom }), clock, name };
    },
  };
}

type Cloud = Pick<AzureClientsOptions, 'environment' | 'credential' | 'subscriptionId' | 'caPem'>;

/** The Azure of a local world, or the one from the environment. */
export async function azureOf({
  stateDir,
  subscription,
}: Pick<AksAddress, 'stateDir' | 'subscription'>): Promise<Cloud> {
  if (stateDir !== undefined) return localCloud(stateDir, subscription);
  const {
    ARM_CLOUD: armCloud,
    AZURE_ENVIRONMENT_FILEPATH: azureEnvironmentFilepath,
    AZURE_TENANT_ID: tenantId,
  } = process.env;
  const { environment, credential } = await azureCloud({ armCloud, azureEnvironmentFilepath, tenantId });
  const subscriptionId = subscription ?? process.env['AZURE_SUBSCRIPTION_ID'];
  if (subscriptionId === undefined || subscriptionId === '') throw new NodewrightError('NoSubscription', {});
  return { environment, credential, subscriptionId };
}

async function localCloud(stateDir: string, subscription: string | undefined): Promise<Cloud> {
  const variables = await readAzureEnvironment(join(stateDir, 'azure.env'), stateDir);
  const value = (name: string): string => variables[name] ?? '';
  const caPem = await readFile(value('NODE_EXTRA_CA_CERTS'), 'utf8');
  const endpoint = value('AZURE_RESOURCE_MANAGER_ENDPOINT');
  const credential = new ClientSecretCredential(
    value('AZURE_TENANT_ID'),
    value('AZURE_CLIENT_ID'),
    value('AZURE_CLIENT_SECRET'),
    {
      authorityHost: endpoint,
      disableInstanceDiscovery: true,
      tlsOptions: { ca: caPem },
    },
  );
  return {
    environment: environmentAt(endpoint),
    credential,
    caPem,
    subscriptionId: subscription ?? value('AZURE_SUBSCRIPTION_ID'),
  };
}

const OWNER_ONLY = 0o600;

/** Through a file, because a user's credentials may refer to other files relative to it. */
async function configFrom(kubeconfig: string): ReturnType<typeof loadKubeconfig> {
  const folder = await mkdtemp(join(tmpdir(), 'nodewright-'));
  const path = join(folder, 'kubeconfig');
  try {
    await writeFile(path, kubeconfig, { mode: OWNER_ONLY });
    return await loadKubeconfig({ path });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Location of the chart, from the sources or from the bundle, which is in a deeper folder. */
function chartFolder(): string {
  const found = ['../../../charts/nodewright', '../../charts/nodewright', '../charts/nodewright']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(join(path, 'Chart.yaml')));
  if (found === undefined) throw new InvariantError('The chart is missing from this installation.');
  return found;
}

export function enableOptions(options: {
  readonly image: string;
  readonly defaultNodePools: 'Auto' | 'None';
  readonly timeout: number;
}): EnableOptions {
  const folder = chartFolder();
  const role = JSON.parse(readFileSync(join(folder, 'azure-role.json'), 'utf8')) as {
    readonly Actions: readonly string[];
  };
  return {
    ...options,
    image: imageOf(options.image),
    actions: role.Actions,
    renderChart: (values) => renderChart(folder, values, RELEASE),
  };
}

/** For example `registry.example.com:5000/nodewright:0.1.0`: a colon before the last slash is a port. */
function imageOf(text: string): EnableOptions['image'] {
  const colon = text.lastIndexOf(':');
  return colon > text.lastIndexOf('/')
    ? { repository: text.slice(0, colon), tag: text.slice(colon + 1) }
    : { repository: text };
}

/** Only the names of the chart's objects are used; values do not matter. */
export function chartObjects(): readonly Manifest[] {
  return renderChart(chartFolder(), { image: { repository: 'none' } }, RELEASE);
}
