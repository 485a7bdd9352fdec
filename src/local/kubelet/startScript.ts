/**
 * What the provisioning code of an AKS node image does with the script of a VM: it reads its variables and starts a
 * kubelet, or fails. The names and rules are those of the image, not of whatever wrote the script.
 */
import { isKubeletFlag, takesValues } from './kubeletRelease.ts';

export interface BootedFrom {
  readonly location: string;
  readonly resourceGroup: string;
  readonly subscriptionId: string;
  /** As in `kubernetes.io/arch`: of the hardware. */
  readonly architecture: string;
  /** The names of AKS's API servers that the instance's network resolves. */
  readonly apiServerNames: readonly string[];
}

export interface StartedKubelet {
  /** What it introduces itself with. */
  readonly bootstrapToken: string;
  readonly kubernetesVersion: string;
  readonly flags: ReadonlyMap<string, string>;
  readonly labels: Readonly<Record<string, string>>;
  readonly gpuDriver: boolean;
  /** Client id with which it signs in at registries; undefined when nothing does that for it. */
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
/** A download for the hardware; an image for a newer Kubernetes carries the binaries itself. */
const download = (name: string, needed: (minor: number) => boolean): Rule => ({
  name,
  holds: (value, { architecture }, variables) =>
    needed(minorOf(variables)) ? value.startsWith('https://') && value.includes(`-linux-${architecture}`) : true,
});

/** Variables for which an image takes one value only. */
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
  // The kubeconfig is written as https://<name>:443. Addresses and names outside of AKS are reached by means of their own.
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

/** The kubelet that the script starts, or the name of what keeps it from starting. */
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

/** The image installs the provider below this folder and writes its configuration; older kubelets have one built in. */
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

/** `NAME='value'` lines of a shell script. */
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

/** `a=b,c=d` */
export function readPairs(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    text
      .split(',')
      .filter((pair) => pair.includes('='))
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

/** A kubelet exits at a flag that its release does not know or at a value that it refuses, and joins nothing without these. */
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
    takesValues(flags, minor) &&
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

/** A kubelet exits when it is to set other labels of Kubernetes' own on itself. */
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
