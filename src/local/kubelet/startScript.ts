/**
 * Simulates the provisioning code of an AKS node image: reads the variables of a VM's script and starts a kubelet, or
 * fails. Names and rules are those of the image, independent of our code that writes such scripts.
 */
import { isKubeletFlag, hasValidValues } from './kubeletRelease.ts';

export interface BootedFrom {
  readonly location: string;
  readonly resourceGroup: string;
  readonly subscriptionId: string;
  /** The architecture of the hardware, as in `kubernetes.io/arch`. */
  readonly architecture: string;
  /** Names of AKS's API servers that the network of the instance resolves. */
  readonly apiServerNames: readonly string[];
}

export interface StartedKubelet {
  /** The token with which it registers. */
  readonly bootstrapToken: string;
  readonly kubernetesVersion: string;
  readonly flags: ReadonlyMap<string, string>;
  readonly labels: Readonly<Record<string, string>>;
  readonly gpuDriver: boolean;
  /** Client id for signing in to registries; undefined without a credential provider. */
  readonly registryIdentity: string | undefined;
}

type Variables = ReadonlyMap<string, string>;

interface Rule {
  readonly name: string;
  readonly holds: (value: string, host: BootedFrom, variables: Variables) => boolean;
}

const START = '/opt/azure/containers/provision_start.sh';
const SCRIPTS = '/opt/azure/containers/';
const matches = (name: string, pattern: RegExp): Rule => ({ name, holds: (value) => pattern.test(value) });
const flag = (name: string): Rule => matches(name, /^(?:true|false)$/);
/** Rule for the URL of a download for the architecture, which not every Kubernetes version needs. */
const download = (name: string, needed: (minor: number) => boolean): Rule => ({
  name,
  holds: (value, { architecture }, variables) =>
    needed(minorOf(variables)) ? value.startsWith('https://') && value.includes(`-linux-${architecture}`) : true,
});

/** Variables for which images accept only one value. */
export const IMAGE_VALUES = {
  ENABLE_TLS_BOOTSTRAPPING: 'true',
  ENABLE_SECURE_TLS_BOOTSTRAPPING: 'false',
  USE_MANAGED_IDENTITY_EXTENSION: 'true',
  USE_INSTANCE_METADATA: 'true',
  SERVICE_PRINCIPAL_CLIENT_ID: 'msi',
  VM_TYPE: 'standard',
  LOAD_BALANCER_SKU: 'Standard',
  CONTAINER_RUNTIME: 'containerd',
  CLI_TOOL: 'ctr',
  NEEDS_CONTAINERD: 'true',
  IS_VHD: 'true',
  CSE_HELPERS_FILEPATH: `${SCRIPTS}provision_source.sh`,
  CSE_DISTRO_HELPERS_FILEPATH: `${SCRIPTS}provision_source_distro.sh`,
  CSE_INSTALL_FILEPATH: `${SCRIPTS}provision_installs.sh`,
  CSE_DISTRO_INSTALL_FILEPATH: `${SCRIPTS}provision_installs_distro.sh`,
  CSE_CONFIG_FILEPATH: `${SCRIPTS}provision_configs.sh`,
} as const;

const RULES: readonly Rule[] = [
  matches('KUBERNETES_VERSION', /^1\.\d+\.\d+/),
  // The kubeconfig has https://<name>:443. Only names of AKS need to be resolvable here; others are not checked.
  {
    name: 'API_SERVER_NAME',
    holds: (value, { apiServerNames }) =>
      /^(?!-)[A-Za-z0-9.-]+$/.test(value) && (!value.endsWith('.azmk8s.io') || apiServerNames.includes(value)),
  },
  { name: 'KUBE_CA_CRT', holds: (value) => decoded(value).startsWith('-----BEGIN CERTIFICATE-----') },
  matches('TLS_BOOTSTRAP_TOKEN', /^[a-z0-9]{6}\.[a-z0-9]{16}$/),
  { name: 'LOCATION', holds: (value, host) => same(value, host.location) },
  { name: 'RESOURCE_GROUP', holds: (value, host) => same(value, host.resourceGroup) },
  { name: 'SUBSCRIPTION_ID', holds: (value, host) => same(value, host.subscriptionId) },
  { name: 'SERVICE_PRINCIPAL_FILE_CONTENT', holds: (value) => decoded(value) === 'msi' },
  matches('NETWORK_PLUGIN', /^(?:azure|none|kubenet)$/),
  matches('SUBNET', /./),
  matches('VIRTUAL_NETWORK', /./),
  matches('VIRTUAL_NETWORK_RESOURCE_GROUP', /./),
  matches('NETWORK_SECURITY_GROUP', /^aks-agentpool-\d{8}-nsg$/i),
  matches('ROUTE_TABLE', /^aks-agentpool-\d{8}-routetable$/),
  ...Object.entries(IMAGE_VALUES).map(([name, expected]): Rule => ({ name, holds: (value) => value === expected })),
  matches('TARGET_CLOUD', /./),
  matches('MCR_REPOSITORY_BASE', /^[a-z0-9.]+$/),
  download('KUBE_BINARY_URL', (minor) => minor < 34),
  download('CREDENTIAL_PROVIDER_DOWNLOAD_URL', (minor) => minor >= 30),
  download('CNI_PLUGINS_URL', () => true),
  download('VNET_CNI_PLUGINS_URL', () => true),
  { name: 'CONTAINERD_CONFIG_CONTENT', holds: (value, _host, variables) => isContainerdConfig(value, variables) },
  { name: 'SYSCTL_CONTENT', holds: (value) => /^(?:[\w.-]+=[\d ]+\n)+$/.test(decoded(value)) },
  flag('GPU_NODE'),
  { name: 'CONFIG_GPU_DRIVER_IF_NEEDED', holds: (value, _host, variables) => value === variables.get('GPU_NODE') },
  ...['GPU_DRIVER_TYPE', 'GPU_DRIVER_VERSION', 'GPU_IMAGE_SHA'].map((name): Rule => ({
    name,
    holds: (value, _host, variables) => (value !== '') === (variables.get('GPU_NODE') === 'true'),
  })),
  { name: 'KUBELET_FLAGS', holds: (value, _host, variables) => startsKubelet(readFlags(value), minorOf(variables)) },
  { name: 'KUBELET_NODE_LABELS', holds: (value) => Object.keys(readPairs(value)).every(kubeletMaySet) },
];

/** Returns the kubelet that the script starts, or the problem that prevents it. */
export function readStartScript(script: string, host: BootedFrom): StartedKubelet | { readonly problem: string } {
  if (!script.includes(START)) return { problem: `the script does not run ${START}` };
  const variables = readVariables(script);
  for (const { name, holds } of RULES) {
    const value = variables.get(name);
    if (value === undefined) return { problem: `${name} is not set` };
    if (!holds(value, host, variables)) return { problem: `${name} is wrong` };
  }
  return {
    kubernetesVersion: variables.get('KUBERNETES_VERSION') ?? '',
    bootstrapToken: variables.get('TLS_BOOTSTRAP_TOKEN') ?? '',
    flags: readFlags(variables.get('KUBELET_FLAGS') ?? ''),
    labels: readPairs(variables.get('KUBELET_NODE_LABELS') ?? ''),
    gpuDriver: variables.get('GPU_NODE') === 'true',
    registryIdentity: registryIdentityOf(variables),
  };
}

/** The folder of the credential provider, which the image installs; older kubelets have a built-in one. */
const PROVIDER = '/var/lib/kubelet/credential-provider';

function registryIdentityOf(variables: Variables): string | undefined {
  const flags = readFlags(variables.get('KUBELET_FLAGS') ?? '');
  const hasProvider =
    minorOf(variables) < 30
      ? flags.get('azure-container-registry-config') === '/etc/kubernetes/azure.json'
      : flags.get('image-credential-provider-bin-dir') === PROVIDER &&
        flags.get('image-credential-provider-config') === `${PROVIDER}-config.yaml`;
  return hasProvider ? variables.get('USER_ASSIGNED_IDENTITY_ID') : undefined;
}

/** Reads the `NAME='value'` lines of a shell script. */
function readVariables(script: string): Variables {
  const variables = new Map<string, string>();
  for (const match of script.matchAll(/^([A-Z][A-Z0-9_]*)='((?:[^']|'\\'')*)'$/gm)) {
    variables.set(match[1] ?? '', (match[2] ?? '').replaceAll("'\\''", "'"));
  }
  return variables;
}

function readFlags(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split(/\s+/).flatMap((one) => {
      const match = /^--([\w-]+)=(.*)$/.exec(one);
      return match === null ? [] : [[match[1] ?? '', match[2] ?? ''] as const];
    }),
  );
}

/** Parses `a=b,c=d`. */
export function readPairs(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text
      .split(',')
      .filter((pair) => pair.includes('='))
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

/** Whether the kubelet starts and joins: all flags are known to its version, valid, and none of these is missing. */
function startsKubelet(flags: ReadonlyMap<string, string>, minor: number): boolean {
  const needed: Readonly<Record<string, RegExp>> = {
    kubeconfig: /^\/var\/lib\/kubelet\/kubeconfig$/,
    'client-ca-file': /^\/etc\/kubernetes\/certs\/ca\.crt$/,
    'cloud-provider': /^external$/,
    'cluster-dns': /^[\d.]+$/,
    'max-pods': /^\d+$/,
    'kube-reserved': /^cpu=\d+m,memory=\d+Mi$/,
    'eviction-hard': /memory\.available<\d+Mi/,
    'register-with-taints': /^(?:[^=:,]+(?:=[^:,]*)?:\w+(?:,|$))*$/,
    'rotate-certificates': /^true$/,
  };
  const known = [...flags.keys()].every((name) => isKubeletFlag(name, minor));
  return (
    known &&
    hasValidValues(flags, minor) &&
    Object.entries(needed).every(([name, pattern]) => pattern.test(flags.get(name) ?? ''))
  );
}

function isContainerdConfig(content: string, variables: Variables): boolean {
  const text = decoded(content);
  const runtime = variables.get('GPU_NODE') === 'true' ? 'nvidia-container-runtime' : 'runc';
  return [
    'version = 2\n',
    'sandbox_image = "',
    `default_runtime_name = "${runtime}"`,
    'SystemdCgroup = true',
    'config_path = "/etc/containerd/certs.d"',
  ].every((part) => text.includes(part));
}

const KUBELET_LABEL =
  /^(?:(?:failure-domain\.beta\.kubernetes\.io|topology\.kubernetes\.io)\/(?:zone|region)|(?:beta\.)?kubernetes\.io\/(?:os|arch|hostname|instance-type)|(?:[\w.-]+\.)?(?:node|kubelet)\.kubernetes\.io\/.+)$/;

/** Whether a kubelet may set a label on its Node; it exits on others with a Kubernetes prefix. */
function kubeletMaySet(key: string): boolean {
  return !/(?:^|\.)(?:kubernetes|k8s)\.io\//.test(key) || KUBELET_LABEL.test(key);
}

function minorOf(variables: Variables): number {
  return Number(/^1\.(\d+)/.exec(variables.get('KUBERNETES_VERSION') ?? '')?.[1] ?? 0);
}

function decoded(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8');
}

function same(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}
