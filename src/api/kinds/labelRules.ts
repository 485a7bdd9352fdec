/**
 * CEL rules on the label keys that users may name in pools, claims and overlays: for one key (`self` is the key) or for
 * a whole label map.
 */
import { Groups, Labels, LEGACY_AKS_LABELS } from '../labels.ts';
import type { ValidationRule } from '../schema/structuralSchema.ts';

export const LABEL_KEY_PATTERN =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$';
export const LABEL_VALUE_PATTERN = '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$';

const KARPENTER_KEYS = [Labels.capacityType, Labels.nodePool];

const AZURE_KEYS = [
  Labels.aksNodeClass,
  Labels.skuName,
  Labels.skuFamily,
  Labels.skuSeries,
  Labels.skuVersion,
  Labels.skuCpu,
  Labels.skuMemory,
  Labels.skuAcceleratedNetworking,
  Labels.skuPremiumStorage,
  Labels.skuUltraSsd,
  Labels.skuEphemeralOsMaxSize,
  Labels.skuGpuName,
  Labels.skuGpuManufacturer,
  Labels.skuGpuCount,
  Labels.placementScope,
];

const AKS_KEYS = [
  Labels.aksMode,
  Labels.aksScaleSetPriority,
  Labels.aksPriority,
  Labels.aksFipsEnabled,
  Labels.aksOsSku,
  Labels.aksCluster,
  Labels.aksCpu,
  Labels.aksMemory,
  Labels.aksEbpfDataplane,
  Labels.aksEbpfHostRouting,
  Labels.aksNetworkPolicy,
  Labels.aksHostedVm,
];

/** Where the rules apply: `nodePoolKey` says whether `karpenter.sh/nodepool` itself is allowed there. */
interface Place {
  readonly nodePoolKey: 'allowed' | 'refused';
}

/** For a schema whose value is one label key. */
export function labelKeyRules(place: Place): ValidationRule[] {
  return rulesFor('self', place);
}

/** For a schema whose value is a map from label keys to values. */
export function labelMapRules(place: Place): ValidationRule[] {
  return rulesFor('key', place).map(({ rule, ...rest }) => ({ ...rest, rule: `self.all(key, ${rule})` }));
}

function rulesFor(key: string, place: Place): ValidationRule[] {
  const refused = [
    ...(place.nodePoolKey === 'refused' ? [Labels.nodePool] : []),
    Labels.hostname,
    ...LEGACY_AKS_LABELS,
  ];
  return [
    domainRule(key, Groups.karpenter, KARPENTER_KEYS),
    domainRule(key, Groups.azure, AZURE_KEYS),
    domainRule(key, Groups.aks, AKS_KEYS),
    ...refused.map((label) => ({
      rule: `${key} != '${label}'`,
      message: `label "${label}" is restricted: it is set on every node and cannot be chosen here`,
    })),
  ];
}

/** A suffix test on the part before the first slash, as in upstream: `my-karpenter.sh/x` is refused as well. */
function domainRule(key: string, domain: string, allowed: readonly string[]): ValidationRule {
  const names = allowed.map((label) => `'${label}'`).join(', ');
  return {
    rule: `${key} in [${names}] || !${key}.find('^([^/]+)').endsWith('${domain}')`,
    message: `label domain "${domain}" is restricted: only ${allowed.map(lastPart).join(', ')} may be used from it`,
  };
}

function lastPart(label: string): string {
  return label.slice(label.indexOf('/') + 1);
}
