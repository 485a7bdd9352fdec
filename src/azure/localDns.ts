/** Whether new instances of a class run AKS's DNS cache. */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import { Kinds } from '../api/kinds.ts';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import { ignoreNotFound } from '../kube/errors.ts';
import type { Kube } from '../kube/kube.ts';
import type { AzureSettings } from './azureSettings.ts';
import { atLeastMinor, isWithoutDnsCache } from './images.ts';

type LocalDnsState = 'Enabled' | 'Disabled';

export interface LocalDnsOptions {
  readonly kube: Kube;
  readonly settings: Pick<AzureSettings, 'provisionMode' | 'networkPlugin' | 'networkPolicy'>;
}

/** The minor version of Kubernetes from which AKS enables `Preferred`: none yet. */
const PREFERRED_FROM = 99;
/** AKS's own policy, which lets nodes reach the control plane. */
const HARMLESS = { namespace: 'kube-system', name: 'konnectivity-agent' };
/** A DNS cache already installed by the user. */
const OTHER_CACHE = { namespace: 'kube-system', name: 'node-local-dns' };

const policy = (group: string, version: string, kind: string, plural: string): ResourceKind<KubeObject> => ({
  group,
  version,
  kind,
  plural,
  singular: kind.toLowerCase(),
  // Listed in all namespaces.
  namespaced: false,
});
const KUBERNETES_POLICIES = policy('networking.k8s.io', 'v1', 'NetworkPolicy', 'networkpolicies');
/** Policy kinds of network policy engines in addition to Kubernetes' own, by `--network-policy`. */
const ENGINE_POLICIES: Readonly<Record<string, readonly ResourceKind<KubeObject>[]>> = {
  cilium: [
    policy('cilium.io', 'v2', 'CiliumNetworkPolicy', 'ciliumnetworkpolicies'),
    policy('cilium.io', 'v2', 'CiliumClusterwideNetworkPolicy', 'ciliumclusterwidenetworkpolicies'),
  ],
  calico: [
    policy('crd.projectcalico.org', 'v1', 'NetworkPolicy', 'networkpolicies'),
    policy('crd.projectcalico.org', 'v1', 'GlobalNetworkPolicy', 'globalnetworkpolicies'),
  ],
};

/**
 * `Preferred` is enabled when nothing in the cluster conflicts with it, and then stays enabled. Throws when the cluster
 * cannot be queried.
 */
export async function localDnsState(
  nodeClass: AksNodeClass,
  kubernetesVersion: string,
  options: LocalDnsOptions,
  signal?: AbortSignal,
): Promise<LocalDnsState> {
  const mode = nodeClass.spec?.localDNS?.mode;
  if (mode === 'Required') return 'Enabled';
  // In this mode nothing configures the cache, so `Preferred` means off.
  if (mode !== 'Preferred' || options.settings.provisionMode === 'aksscriptless') return 'Disabled';
  if (nodeClass.status?.localDNSState === 'Enabled') return 'Enabled';
  const possible =
    atLeastMinor(kubernetesVersion, PREFERRED_FROM) &&
    options.settings.networkPlugin !== 'none' &&
    !isWithoutDnsCache(nodeClass) &&
    !(await hasPolicies(options, signal)) &&
    !(await hasOtherCache(options, signal));
  return possible ? 'Enabled' : 'Disabled';
}

/** A policy may block pods from the cache's address; only engines that enforce it there matter. */
async function hasPolicies({ kube, settings }: LocalDnsOptions, signal: AbortSignal | undefined): Promise<boolean> {
  const engine = ENGINE_POLICIES[settings.networkPolicy.toLowerCase()];
  if (engine === undefined) return false;
  // Two are enough to find one that is not AKS's.
  const { items } = await kube.list(KUBERNETES_POLICIES, { limit: 2, ...(signal && { signal }) });
  if (items.some(({ metadata: { namespace, name } }) => namespace !== HARMLESS.namespace || name !== HARMLESS.name)) {
    return true;
  }
  for (const kind of engine) {
    const found = await ignoreNotFound(kube.list(kind, { limit: 1, ...(signal && { signal }) }));
    if (found !== undefined && found.items.length > 0) return true;
  }
  return false;
}

async function hasOtherCache({ kube }: LocalDnsOptions, signal: AbortSignal | undefined): Promise<boolean> {
  return (await ignoreNotFound(kube.get(Kinds.DaemonSet, OTHER_CACHE, signal && { signal }))) !== undefined;
}
