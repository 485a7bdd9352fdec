/** The ARM request bodies for a VM and its extensions. */
import type { VirtualMachine, VirtualMachineExtension } from '@azure/arm-compute';
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Labels, ManagedTags } from '../api/labels.ts';
import type { Offering } from '../cloud/instanceType.ts';
import type { AzureSettings } from './azureSettings.ts';
import { trustedLaunchEnabled } from '../catalogue/nodeSettings.ts';
import { armZones } from '../catalogue/offerings.ts';
import type { Sku } from '../catalogue/resourceSku.ts';
import type { Extension } from './virtualMachines.ts';

export const BILLING_EXTENSION = 'computeAksLinuxBilling';
export const BOOTSTRAP_EXTENSION = 'cse-agent-karpenter';

export interface VirtualMachineBodyInput {
  readonly name: string;
  readonly settings: AzureSettings;
  readonly nodeClass: AksNodeClass;
  readonly sku: Sku;
  readonly offering: Offering;
  readonly osDiskSizeGB: number;
  readonly imageId: string;
  readonly customData: string;
  readonly ultraSsd: boolean;
  readonly tags: Readonly<Record<string, string>>;
  readonly interfaceId: string;
  readonly reservationGroup?: string | undefined;
}

export function virtualMachineOf(wish: VirtualMachineBodyInput): VirtualMachine {
  const { settings, offering, nodeClass } = wish;
  const { nodeIdentities } = settings;
  return {
    location: settings.location,
    // Empty for an instance without a zone, as in upstream.
    zones: [...armZones(offering.zone)],
    tags: { ...wish.tags },
    ...(nodeIdentities.length === 0
      ? {}
      : {
          identity: {
            type: 'UserAssigned' as const,
            userAssignedIdentities: Object.fromEntries(nodeIdentities.map((id) => [id, {}])),
          },
        }),
    hardwareProfile: { vmSize: wish.sku.name },
    storageProfile: {
      imageReference: wish.imageId.startsWith('/CommunityGalleries/')
        ? { communityGalleryImageId: wish.imageId }
        : { id: wish.imageId },
      osDisk: osDiskOf(wish),
    },
    networkProfile: {
      networkInterfaces: [{ id: wish.interfaceId, primary: true, deleteOption: 'Delete' }],
    },
    osProfile: {
      computerName: wish.name,
      adminUsername: settings.linuxAdminUsername,
      customData: wish.customData,
      linuxConfiguration: {
        disablePasswordAuthentication: true,
        ssh: {
          publicKeys: [
            {
              keyData: settings.sshPublicKey,
              path: `/home/${settings.linuxAdminUsername}/.ssh/authorized_keys`,
            },
          ],
        },
      },
    },
    ...(offering.capacityType === 'spot'
      ? { priority: 'Spot' as const, evictionPolicy: 'Delete' as const, billingProfile: { maxPrice: -1 } }
      : { priority: 'Regular' as const }),
    ...(wish.reservationGroup === undefined
      ? {}
      : { capacityReservation: { capacityReservationGroup: { id: wish.reservationGroup } } }),
    ...securityOf(nodeClass),
    ...(wish.ultraSsd ? { additionalCapabilities: { ultraSSDEnabled: true } } : {}),
  };
}

/** On local storage where it fits: faster and free. */
function osDiskOf({ name, sku, osDiskSizeGB, settings }: VirtualMachineBodyInput) {
  const { ephemeralDisk } = sku;
  const encryption = settings.diskEncryptionSetId;
  return {
    name,
    diskSizeGB: osDiskSizeGB,
    createOption: 'FromImage' as const,
    deleteOption: 'Delete' as const,
    ...(ephemeralDisk !== undefined && osDiskSizeGB <= ephemeralDisk.sizeGB
      ? {
          caching: 'ReadOnly' as const,
          diffDiskSettings: { option: 'Local' as const, placement: ephemeralDisk.placement },
        }
      : {}),
    ...(encryption === '' ? {} : { managedDisk: { diskEncryptionSet: { id: encryption } } }),
  };
}

function securityOf(nodeClass: AksNodeClass): Pick<VirtualMachine, 'securityProfile'> {
  const { encryptionAtHost, trustedLaunch } = nodeClass.spec?.security ?? {};
  const trusted = trustedLaunchEnabled(nodeClass);
  if (encryptionAtHost === undefined && !trusted) return {};
  return {
    securityProfile: {
      ...(encryptionAtHost === undefined ? {} : { encryptionAtHost }),
      ...(trusted
        ? {
            securityType: 'TrustedLaunch',
            uefiSettings: {
              secureBootEnabled: trustedLaunch?.secureBoot === true,
              vTpmEnabled: trustedLaunch?.vtpm === true,
            },
          }
        : {}),
    },
  };
}

/** Registers the VM with Azure as a node of AKS. */
export function billingExtensionOf(location: string, tags: Readonly<Record<string, string>>): Extension {
  const body: VirtualMachineExtension = {
    location,
    tags: { ...tags },
    publisher: 'Microsoft.AKS',
    typePropertiesType: 'Compute.AKS.Linux.Billing',
    typeHandlerVersion: '1.0',
    autoUpgradeMinorVersion: true,
    settings: {},
  };
  return { name: BILLING_EXTENSION, body, isRequired: false };
}

/** Runs the command of the node bootstrapping server, which is a secret. */
export function bootstrapExtensionOf(
  location: string,
  tags: Readonly<Record<string, string>>,
  commandToExecute: string,
): Extension {
  const body: VirtualMachineExtension = {
    location,
    tags: { ...tags },
    publisher: 'Microsoft.Azure.Extensions',
    typePropertiesType: 'CustomScript',
    typeHandlerVersion: '2.0',
    autoUpgradeMinorVersion: true,
    settings: {},
    protectedSettings: { commandToExecute },
  };
  return { name: BOOTSTRAP_EXTENSION, body, isRequired: true };
}

/** Later ones win: tags of the operator, of the class, and those that we need. */
export function tagsOf(claim: NodeClaim, nodeClass: AksNodeClass, settings: AzureSettings): Record<string, string> {
  const pool = claim.metadata.labels?.[Labels.nodePool];
  const wanted = { ...settings.additionalTags, ...nodeClass.spec?.tags };
  return {
    ...Object.fromEntries(Object.entries(wanted).map(([key, value]) => [key.replaceAll('/', '_'), value])),
    [ManagedTags.cluster]: settings.clusterName,
    [ManagedTags.billing]: 'linux',
    ...(pool === undefined ? {} : { [ManagedTags.nodePool]: pool }),
  };
}
