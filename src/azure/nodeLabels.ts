/** Labels of a node: those that its kubelet registers, and those on the NodeClaim until then. */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Labels, WELL_KNOWN_LABELS } from '../api/labels.ts';
import type { InstanceType, Offering } from '../cloud/instanceType.ts';
import { Requirements } from '../constraints/requirements.ts';
import type { AzureSettings } from './azureSettings.ts';
import { atLeastMinor, concreteFamily } from './images.ts';
import { clusterLabel } from '../catalogue/nodeSettings.ts';
import { parseSubnetId } from './network.ts';

export interface Choice {
  readonly claim: NodeClaim;
  readonly nodeClass: AksNodeClass;
  readonly type: InstanceType;
  readonly offering: Offering;
  readonly kubernetesVersion: string;
}

type LabelMap = Readonly<Record<string, string>>;

/** Keys in kubernetes.io and k8s.io that a kubelet may set on its own Node. */
const KUBELET_LABELS: ReadonlySet<string> = new Set([
  Labels.hostname,
  Labels.zone,
  Labels.region,
  Labels.instanceType,
  Labels.os,
  Labels.arch,
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);
/** AKS labels from before its label domain. */
const LEGACY_LABELS: ReadonlySet<string> = new Set(['agentpool', 'storageprofile', 'storagetier', 'accelerator']);
const KUBELET_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const CLUSTER_DOMAINS = ['kubernetes.io', 'k8s.io'];

/** For `--node-labels`: later sources win, and labels that kubelets may not set are left out. */
export function kubeletLabels(choice: Choice, settings: AzureSettings): LabelMap {
  const labels = { ...baseLabels(choice, settings), ...wantedLabels(choice), ...offeringLabels(choice) };
  return filterKeys(labels, kubeletMaySet);
}

/** Labels from the claim and the size; later sources win. */
function wantedLabels({ claim, type }: Choice): LabelMap {
  return {
    ...claim.metadata.labels,
    ...singleValues(Requirements.fromItems(claim.spec.requirements)),
    ...singleValues(type.requirements),
  };
}

export function isSystemNode(choice: Choice): boolean {
  return wantedLabels(choice)[Labels.aksMode] === 'system';
}

/** For an AKS machine: AKS adds its own labels, and rejects them in requests. */
export function machineLabels(choice: Choice): LabelMap {
  return filterKeys(
    { ...wantedLabels(choice), ...offeringLabels(choice) },
    (key) =>
      domainOf(key) !== 'kubernetes.azure.com' &&
      !LEGACY_LABELS.has(key) &&
      !KUBELET_LABELS.has(key) &&
      kubeletMaySet(key),
  );
}

/** For the NodeClaim: labels that are certain before the node joins. */
export function claimLabels(choice: Choice): LabelMap {
  const wanted = singleValues(Requirements.fromItems(choice.claim.spec.requirements));
  return {
    ...filterKeys(wanted, (key) => WELL_KNOWN_LABELS.has(key)),
    ...singleValues(choice.type.requirements),
    ...offeringLabels(choice),
    [Labels.zone]: choice.offering.zone,
  };
}

/** Never on arm64. */
export function streamsArtifacts({ spec }: AksNodeClass, { requirements }: InstanceType): boolean {
  return spec?.artifactStreaming?.enabled === true && !requirements.get(Labels.arch).has('arm64');
}

/** Ultra disks only for claims that require them. */
export function wantsUltraSsd(claim: NodeClaim): boolean {
  const requirements = Requirements.fromItems(claim.spec.requirements);
  if (!requirements.has(Labels.skuUltraSsd)) return false;
  const requirement = requirements.get(Labels.skuUltraSsd);
  return requirement.has('true') && !requirement.has('false');
}

function baseLabels({ nodeClass, kubernetesVersion, type }: Choice, settings: AzureSettings): LabelMap {
  const { spec, status } = nodeClass;
  const overlay = settings.networkPlugin === 'azure' && settings.networkPluginMode === 'overlay';
  const subnet = parseSubnetId(spec?.vnetSubnetID ?? settings.vnetSubnetId)?.subnet ?? '';
  return {
    [Labels.doNotSyncTaints]: 'true',
    [Labels.aksCluster]: clusterLabel(settings.nodeResourceGroup),
    [Labels.aksMode]: 'user',
    [Labels.aksRole]: 'agent',
    [Labels.aksKubeletIdentityClientId]: settings.kubeletIdentityClientId,
    [Labels.aksOsSkuRequested]: spec?.imageFamily ?? 'Ubuntu',
    [Labels.aksOsSkuEffective]: concreteFamily(nodeClass, kubernetesVersion).replace('Ubuntu2004', 'Ubuntu'),
    [Labels.aksLocalDnsState]: status?.localDNSState === 'Enabled' ? 'enabled' : 'disabled',
    ...(overlay
      ? {
          [Labels.aksCniOverlay]: 'true',
          [Labels.aksNetworkSubnet]: subnet,
          [Labels.aksVnetGuid]: settings.vnetGuid,
          [Labels.aksPodNetworkType]: 'overlay',
          [Labels.aksStatelessCni]: String(atLeastMinor(kubernetesVersion, 34)),
        }
      : {}),
    ...(settings.networkDataplane === 'cilium' ? { [Labels.aksEbpfDataplane]: 'cilium' } : {}),
    ...(streamsArtifacts(nodeClass, type) ? { [Labels.aksArtifactStreaming]: 'true' } : {}),
  };
}

/** Without the zone, which the cloud's node controller sets. */
function offeringLabels({ claim, offering }: Choice): LabelMap {
  const single = filterKeys(singleValues(offering.requirements), (key) => key !== Labels.zone);
  return { ...single, [Labels.skuUltraSsd]: String(wantsUltraSsd(claim)) };
}

function filterKeys(labels: LabelMap, keeps: (key: string) => boolean): LabelMap {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => keeps(key)));
}

function singleValues(requirements: Requirements): LabelMap {
  const labels: Record<string, string> = {};
  for (const { key, complement, values } of requirements) {
    const [only] = values;
    if (!complement && values.size === 1 && only !== undefined) labels[key] = only;
  }
  return labels;
}

function kubeletMaySet(key: string): boolean {
  const domain = domainOf(key);
  if (!CLUSTER_DOMAINS.some((parent) => below(domain, parent))) return true;
  return KUBELET_LABELS.has(key) || KUBELET_DOMAINS.some((parent) => below(domain, parent));
}

function domainOf(key: string): string {
  return key.includes('/') ? key.slice(0, key.indexOf('/')) : '';
}

function below(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}
