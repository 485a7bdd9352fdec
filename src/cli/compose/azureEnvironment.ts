/** Files for clients of the local Azure in other processes: endpoint, certificate and client secret. */
import { readFile, writeFile } from 'node:fs/promises';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import type { LocalArm } from '../../local/arm/localArm.ts';
import { isKilledWorld } from './stateDirectory.ts';

const OWNER_ONLY = 0o600;
/** The name of the local Azure in `az`. */
const CLOUD = 'nodewright';
/** Machines require a key; nothing logs in to those of the local Azure. */
const UNUSED_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA local';

export interface AzureFiles {
  readonly environment: string;
  readonly certificate: string;
  /** The endpoints, in nodewright's format for a custom cloud. */
  readonly cloud: string;
}

/** Written at every start, because the secret and the port change with the process. */
export async function writeAzureEnvironment(
  { environment, certificate, cloud }: AzureFiles,
  arm: LocalArm,
  clusterEndpoint: string,
): Promise<void> {
  const { tenantId, clientId, clientSecret } = arm.credentials;
  const variables: Readonly<Record<string, string>> = {
    // Variables of the Azure SDKs' EnvironmentCredential.
    AZURE_TENANT_ID: tenantId,
    AZURE_CLIENT_ID: clientId,
    AZURE_CLIENT_SECRET: clientSecret,
    AZURE_AUTHORITY_HOST: arm.endpoint,
    AZURE_SUBSCRIPTION_ID: arm.subscriptionId,
    AZURE_RESOURCE_MANAGER_ENDPOINT: arm.endpoint,
    AZURE_NODE_RESOURCE_GROUP: arm.nodeResourceGroup,
    // Also needed by `nodewright run`, `aks` and `migrate`.
    AZURE_ENVIRONMENT_FILEPATH: cloud,
    LOCATION: arm.location,
    CLUSTER_NAME: arm.cluster.name,
    CLUSTER_ENDPOINT: clusterEndpoint,
    VNET_SUBNET_ID: arm.network.subnetId,
    SSH_PUBLIC_KEY: UNUSED_KEY,
    // The token created and rotated by the cluster's upkeep.
    KUBELET_BOOTSTRAP_TOKEN: 'auto',
    LEADER_ELECTION_NAMESPACE: 'kube-system',
    // Variables of Terraform's azurerm provider.
    ARM_TENANT_ID: tenantId,
    ARM_CLIENT_ID: clientId,
    ARM_CLIENT_SECRET: clientSecret,
    ARM_SUBSCRIPTION_ID: arm.subscriptionId,
    ARM_METADATA_HOSTNAME: new URL(arm.endpoint).host,
    // The certificate, for Node.js, for Go and OpenSSL, and for Python.
    NODE_EXTRA_CA_CERTS: certificate,
    SSL_CERT_FILE: certificate,
    REQUESTS_CA_BUNDLE: certificate,
  };
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}='${value.replaceAll("'", `'\\''`)}'`);
  const endpoints = {
    resourceManagerEndpoint: arm.endpoint,
    activeDirectoryEndpoint: arm.endpoint,
    tokenAudience: arm.endpoint,
  };
  await writeFile(cloud, `${JSON.stringify(endpoints, undefined, 2)}\n`, { mode: OWNER_ONLY });
  await writeFile(certificate, arm.caPem, { mode: OWNER_ONLY });
  await writeFile(environment, `${[...lines, '', ...signInLines()].join('\n')}\n`, { mode: OWNER_ONLY });
}

/**
 * `az` commands that register this cloud and sign in. The authority is that of AD FS, as on Azure Stack, because for
 * any other unknown authority `az` asks the public directory.
 */
const SIGN_IN: readonly (readonly string[])[] = [
  [
    'cloud register',
    `--name ${CLOUD}`,
    '--endpoint-resource-manager "$AZURE_RESOURCE_MANAGER_ENDPOINT"',
    '--endpoint-active-directory "$AZURE_RESOURCE_MANAGER_ENDPOINT/adfs"',
    '--endpoint-active-directory-resource-id "$AZURE_RESOURCE_MANAGER_ENDPOINT"',
    '--endpoint-active-directory-graph-resource-id "$AZURE_RESOURCE_MANAGER_ENDPOINT"',
    '--endpoint-management "$AZURE_RESOURCE_MANAGER_ENDPOINT"',
  ],
  ['cloud set', `--name ${CLOUD}`],
  [
    'login --service-principal',
    '--username "$AZURE_CLIENT_ID"',
    '--password "$AZURE_CLIENT_SECRET"',
    '--tenant "$AZURE_TENANT_ID"',
    '--output none',
  ],
];

function signInLines(): readonly string[] {
  return [
    '# The Azure CLI: call azure_sign_in after this file was sourced, or let `nodewright az` do it in a folder of its own.',
    'azure_sign_in() {',
    ...SIGN_IN.map((words) => `  ${signInLine(words)} || return`),
    '}',
  ];
}

/** Update the cloud if `az` knows it from an earlier start, because its address has changed. */
function signInLine([command = '', ...options]: readonly string[]): string {
  const line = (verb: string): string => ['az', verb, ...options].join(' ');
  if (command !== 'cloud register') return line(command);
  return `${line('cloud update')} --output none 2> /dev/null || ${line(command)}`;
}

/** The arguments of the `az` commands of `azure_sign_in`, in order. */
export function signInCommands(variables: Readonly<Record<string, string>>): readonly (readonly string[])[] {
  const filled = (word: string): string =>
    word.replaceAll('"', '').replace(/\$([A-Z_]+)/g, (_, name: string) => variables[name] ?? '');
  return SIGN_IN.map((words) => words.flatMap((word) => word.split(' ')).map(filled));
}

/** Reads the variables of such a file. */
export async function readAzureEnvironment(path: string, stateDirectory: string): Promise<Record<string, string>> {
  if (await isKilledWorld(stateDirectory)) throw new NodewrightError('NoLocalWorld', { stateDirectory });
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new NodewrightError('NoLocalWorld', { stateDirectory }, { cause: error });
  }
  const variables = [...text.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name = '', value = '']): [string, string] => [
    name,
    value.replaceAll(`'\\''`, "'"),
  ]);
  if (variables.length === 0) throw new NodewrightError('NoLocalWorld', { stateDirectory });
  return Object.fromEntries(variables);
}
