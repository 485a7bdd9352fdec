/** The body of an AKS machine, and the names that belong to it. */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import { ManagedTags } from '../api/labels.ts';
import { stringHash } from '../api/structureHash.ts';
import { gpuSize } from '../catalogue/gpuRegistry.ts';
import { armZones } from '../catalogue/offerings.ts';
import type { Sku } from '../catalogue/resourceSku.ts';
import { LaunchError } from '../cloud/errors.ts';
import { launchDetail } from '../errors/launchProblems.ts';
import type { AzureSettings } from './azureSettings.ts';
import { kubeletConfigOf, linuxConfigOf, localDnsProfileOf } from './aksProfiles.ts';
import { formatTaint, nodeTaints } from './bootstrap/bootstrapInput.ts';
import { concreteFamily } from './images.ts';
import { isSystemNode, machineLabels, streamsArtifacts, wantsUltraSsd, type Choice } from './nodeLabels.ts';
import { tagsOf } from './virtualMachineBody.ts';

export interface AksMachineBody {
  readonly properties: Readonly<Record<string, unknown>> & { readonly tags: Readonly<Record<string, string>> };
  readonly zones: readonly string[];
}

export interface AksMachineInput {
  readonly choice: Choice;
  readonly settings: AzureSettings;
  readonly sku: Sku;
  readonly imageId: string;
  readonly osDiskSizeGB: number;
}

export function aksMachineOf({ choice, settings, sku, imageId, osDiskSizeGB }: AksMachineInput): AksMachineBody {
  const { claim, nodeClass, type, offering, kubernetesVersion } = choice;
  const { spec } = nodeClass;
  const { security, maxPods, vnetSubnetID } = spec ?? {};
  const gpu = gpuSize(sku.name);
  const kubeletConfig = kubeletConfigOf(spec);
  const linuxOSConfig = linuxConfigOf(spec);
  const localDNSProfile = localDnsProfileOf(nodeClass);
  const labels = machineLabels(choice);
  const { regular, startup } = nodeTaints(claim);
  const isEphemeral = sku.ephemeralDisk !== undefined && osDiskSizeGB <= sku.ephemeralDisk.sizeGB;
  return {
    zones: armZones(offering.zone),
    properties: {
      hardware: {
        vmSize: sku.name,
        ultraSsdEnabled: wantsUltraSsd(claim),
        ...(gpu === undefined ? {} : { gpuProfile: { driver: spec?.gpu?.mode === 'None' ? 'None' : 'Install' } }),
      },
      kubernetes: {
        nodeLabels: labels,
        orchestratorVersion: kubernetesVersion,
        // Passed as initialization taints, because AKS reverts changes to the other kind; we must be able to remove
        // these.
        nodeInitializationTaints: [...new Set([...regular, ...startup].map(formatTaint))],
        nodeTaints: [],
        ...(kubeletConfig === undefined ? {} : { kubeletConfig }),
        ...(maxPods === undefined ? {} : { maxPods }),
        ...(streamsArtifacts(nodeClass, type) ? { artifactStreamingProfile: { enabled: true } } : {}),
      },
      mode: isSystemNode(choice) ? 'System' : 'User',
      network: vnetSubnetID === undefined ? {} : { vnetSubnetID },
      nodeImageVersion: nodeImageVersionOf(imageId),
      operatingSystem: {
        osType: 'Linux',
        osSKU: osSkuOf(nodeClass, kubernetesVersion),
        osDiskSizeGB,
        osDiskType: isEphemeral ? 'Ephemeral' : 'Managed',
        enableFIPS: spec?.fipsMode === 'FIPS',
        ...(linuxOSConfig === undefined ? {} : { linuxProfile: { linuxOSConfig } }),
      },
      priority: offering.capacityType === 'spot' ? 'Spot' : 'Regular',
      security: {
        sshAccess: 'LocalUser',
        enableEncryptionAtHost: security?.encryptionAtHost === true,
        enableVTPM: security?.trustedLaunch?.vtpm === true,
        enableSecureBoot: security?.trustedLaunch?.secureBoot === true,
      },
      ...(localDNSProfile === undefined ? {} : { localDNSProfile }),
      tags: { ...tagsOf(claim, nodeClass, settings), [ManagedTags.machineNodeClaim]: claim.metadata.name },
    },
  };
}

/** FIPS images of plain Ubuntu are still 20.04, which has no OS SKU of its own here. */
function osSkuOf(nodeClass: AksNodeClass, kubernetesVersion: string): string {
  const family = concreteFamily(nodeClass, kubernetesVersion);
  if (family.startsWith('AzureLinux')) return 'AzureLinux';
  const isPlain = (nodeClass.spec?.imageFamily ?? 'Ubuntu') === 'Ubuntu';
  return isPlain && nodeClass.spec?.fipsMode === 'FIPS' ? 'Ubuntu' : family;
}

const GALLERY_IMAGE = /\/galleries\/([^/]+)\/images\/([^/]+)\/versions\/([^/]+)$/i;

/** `AKSUbuntu-2204gen2containerd-202601.02.0`: AKS's name for an image of its shared galleries. */
export function nodeImageVersionOf(imageId: string): string {
  const [, gallery, definition, version] = GALLERY_IMAGE.exec(imageId) ?? [];
  if (gallery === undefined) {
    throw new LaunchError('CreateInstanceFailed', launchDetail('NotASharedImage', { image: imageId }));
  }
  return `${gallery}-${definition}-${version}`;
}

const MAX_NAME = 34;
const HASH_LENGTH = 6;

/** The name of a claim, shortened to AKS's limit: keeps the end and replaces the rest by a hash. */
export function aksMachineName(claimName: string): string {
  if (claimName.length <= MAX_NAME) return claimName;
  const dash = claimName.lastIndexOf('-');
  if (dash < 0) throw new LaunchError('CreateInstanceFailed', launchDetail('NameTooLong', { claim: claimName }));
  const suffix = claimName.slice(dash);
  const kept = Math.max(0, MAX_NAME - suffix.length - HASH_LENGTH);
  return `${claimName.slice(0, kept)}${hash36(claimName.slice(kept, dash))}${suffix}`;
}

/** The same encoding as upstream's, so that a machine of a cluster being taken over is found by its name. */
function hash36(text: string): string {
  return stringHash(text).toString(36).padStart(HASH_LENGTH, '0').slice(-HASH_LENGTH);
}

/** Parses `aks-<pool>-<machine>-########-vm`, the name of the VM of an AKS machine. Undefined for any other VM. */
export function machineNameOfVm(vmName: string, pool: string): string | undefined {
  const prefix = `aks-${pool}-`;
  if (pool === '' || !vmName.toLowerCase().startsWith(prefix.toLowerCase()) || !vmName.endsWith('-vm'))
    return undefined;
  const middle = vmName.slice(prefix.length, -'-vm'.length);
  const dash = middle.lastIndexOf('-');
  return dash <= 0 ? undefined : middle.slice(0, dash);
}
