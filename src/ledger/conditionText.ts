import { timestamp } from '../units/timestamp.ts';
import type { Taint } from 'kubernetes-types/core/v1.js';
import { Reasons } from '../api/conditionTypes.ts';
import { formatTaint } from '../pods/taints.ts';

/** Why a condition of one of our kinds is not true, for conditions that this program sets. */
export type ConditionCause =
  | NodeClassCause
  | {
      readonly kind:
        | 'nodeMissing'
        | 'nodesAmbiguous'
        | 'nodeClassMissing'
        | 'nodeClassTerminating'
        | 'nodeClassUnknown'
        | 'poolUnregistered'
        | 'bufferEmpty'
        | 'bufferWithoutReference';
    }
  | { readonly kind: 'nodeUnready'; readonly isKnown: boolean }
  | { readonly kind: 'startupTaints' | 'ephemeralTaints'; readonly taints: readonly Taint[] }
  | { readonly kind: 'resourceMissing'; readonly resource: string }
  | { readonly kind: 'podTemplateMissing'; readonly name: string }
  | { readonly kind: 'workloadMissing'; readonly workload: string; readonly name: string }
  | { readonly kind: 'workloadUnfit'; readonly workload: string; readonly group: string }
  | { readonly kind: 'capacityMissing'; readonly missing: number; readonly wanted: number }
  | {
      readonly kind: 'overlayConflict';
      readonly weight: number;
      readonly fields: readonly string[];
      readonly instanceType: string;
      readonly pool: string;
    };

/** Of an AKSNodeClass. */
type NodeClassCause =
  | { readonly kind: 'fipsImagesMissing' | 'networkManaged' | 'dnsCacheMissing' }
  /** `version`: the version to which the class is pinned. */
  | { readonly kind: 'imagesMissing'; readonly version: string | undefined }
  | { readonly kind: 'subnetInvalid' | 'subnetForeign' | 'subnetMissing'; readonly subnet: string }
  | { readonly kind: 'subnetUnknown' | 'clusterUnchecked'; readonly problem: string }
  | { readonly kind: 'encryptionSetForbidden'; readonly name: string }
  | { readonly kind: 'servicesIpv6'; readonly dnsServiceIp: string }
  | { readonly kind: 'cfsPeriodRefused'; readonly period: string }
  | { readonly kind: 'imageThresholdsRefused'; readonly high: number; readonly low: number }
  | { readonly kind: 'fieldsUnsupported'; readonly fields: readonly string[]; readonly provisionMode: string };

export interface ConditionText {
  readonly reason: string;
  readonly message: string;
}

const said = (reason: string, message: string): ConditionText => ({ reason, message });

/** Reason and message of a condition. Texts that Karpenter has are identical, because dashboards match them. */
export function conditionText(cause: ConditionCause): ConditionText {
  switch (cause.kind) {
    case 'nodeMissing':
      return said(Reasons.nodeNotFound, 'Node not registered with cluster');
    case 'nodesAmbiguous':
      return said(Reasons.multipleNodesFound, 'Invariant violated, matched multiple nodes');
    case 'nodeClassMissing':
      return said(Reasons.nodeClassNotFound, 'NodeClass not found on cluster');
    case 'nodeClassTerminating':
      return said(Reasons.nodeClassTerminating, 'NodeClass is Terminating');
    case 'nodeClassUnknown':
      return said(Reasons.nodeClassReadinessUnknown, 'Node Class Readiness Unknown');
    case 'poolUnregistered':
      return said(Reasons.registrationFailed, 'Instances of this pool do not register as nodes');
    case 'bufferEmpty':
      return said(Reasons.bufferEmpty, 'no pods to keep room for');
    case 'bufferWithoutReference':
      return said(Reasons.resolutionFailed, 'neither podTemplateRef nor scalableRef is set');
    case 'nodeUnready':
      return said(Reasons.nodeNotReady, `Node status is ${cause.isKnown ? 'NotReady' : 'unknown'}`);
    case 'startupTaints':
      return said(Reasons.startupTaintsExist, `StartupTaint "${cause.taints.map(formatTaint).join()}" still exists`);
    case 'ephemeralTaints':
      return said(
        Reasons.knownEphemeralTaintsExist,
        `KnownEphemeralTaint "${cause.taints.map(formatTaint).join()}" still exists`,
      );
    case 'resourceMissing':
      return said(Reasons.resourceNotRegistered, `Resource "${cause.resource}" was requested but not registered`);
    case 'podTemplateMissing':
      return said(Reasons.podTemplateNotFound, `PodTemplate ${cause.name} does not exist`);
    case 'workloadMissing':
      return said(Reasons.scalableRefNotFound, `${cause.workload} ${cause.name} does not exist`);
    case 'workloadUnfit':
      return said(
        Reasons.resolutionFailed,
        `${cause.workload} of group "${cause.group}" cannot be buffered; use a Deployment, StatefulSet or ReplicaSet`,
      );
    case 'capacityMissing':
      return said(Reasons.requiresNewCapacity, `${cause.missing} of ${cause.wanted} wait for new capacity`);
    case 'overlayConflict': {
      const where = `${cause.instanceType} in NodePool ${cause.pool}`;
      const message = `another overlay of weight ${cause.weight} sets ${cause.fields.join(', ')} of ${where}`;
      return said(Reasons.conflict, message);
    }
    case 'fipsImagesMissing':
      return said(
        Reasons.sigRequiredForFips,
        'FIPS images are only in the shared image galleries of AKS, which are not configured.',
      );
    case 'imagesMissing': {
      const which = cause.version === undefined ? 'no image' : `no image of version ${cause.version}`;
      return said(Reasons.imagesNotFound, `Azure publishes ${which} for this class.`);
    }
    case 'subnetInvalid':
      return said(Reasons.subnetIdInvalid, `${cause.subnet} is not a subnet id.`);
    case 'subnetForeign':
      return said(Reasons.subnetIdInvalid, `${cause.subnet} is not in the virtual network of the cluster.`);
    case 'networkManaged':
      return said(Reasons.subnetIdInvalid, 'The network of the cluster is managed by AKS; it takes no other subnets.');
    case 'subnetMissing':
      return said(Reasons.subnetNotFound, `Subnet ${cause.subnet} does not exist.`);
    case 'subnetUnknown':
      return said(Reasons.subnetUnknownError, cause.problem);
    case 'clusterUnchecked':
      return said(
        Reasons.checkingClusterRequirementsFailed,
        `Whether the cluster allows a DNS cache on nodes cannot be checked: ${cause.problem}`,
      );
    case 'encryptionSetForbidden':
      return said(
        Reasons.diskEncryptionSetRbacMissing,
        `The identity of the controller may not read the disk encryption set ${cause.name}; grant it the Reader role there.`,
      );
    case 'servicesIpv6':
      return said(
        Reasons.unsupportedNetwork,
        `The cluster has IPv6 services (its DNS is at ${cause.dnsServiceIp}); nodes can be provisioned for IPv4 clusters only.`,
      );
    case 'dnsCacheMissing':
      return said(
        Reasons.localDnsUnsupported,
        'Images of Ubuntu 20.04, which FIPS nodes of imageFamily Ubuntu boot, have no DNS cache; set localDNS.mode to Preferred or Disabled, or use Trusted Launch or AzureLinux.',
      );
    case 'cfsPeriodRefused':
      return said(
        Reasons.kubeletSettingsInvalid,
        `The kubelet does not start with kubelet.cpuCFSQuotaPeriod ${cause.period}; it takes 1ms to 1s.`,
      );
    case 'imageThresholdsRefused':
      return said(
        Reasons.kubeletSettingsInvalid,
        `The kubelet does not start when it is to remove images above ${cause.high} % of the disk until ${cause.low} % are used; set kubelet.imageGCLowThresholdPercent below kubelet.imageGCHighThresholdPercent.`,
      );
    case 'fieldsUnsupported':
      return said(
        Reasons.unsupportedInProvisionMode,
        `${cause.fields.join(' and ')} cannot be used in provision mode ${cause.provisionMode}; remove it, or use another provision mode.`,
      );
  }
}

/** Message for a class whose images are ready. */
export function imagesSince(versions: readonly string[], before: readonly string[], now: number): string {
  const since = `boots ${versions.join(', ')} since ${timestamp(now)}`;
  return before.length === 0 ? since : `${since}, before that ${before.join(', ')}`;
}
