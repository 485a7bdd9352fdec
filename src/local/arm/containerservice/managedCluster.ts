/** A managed cluster as the rest of the local AKS needs it. */
import { textAt } from '../jsonPath.ts';
import type { ArmResource } from '../resourceStore.ts';
import { resolvableNames } from './apiServerNames.ts';

export interface ManagedCluster {
  readonly resourceGroup: string;
  readonly name: string;
  readonly location: string;
  readonly nodeResourceGroup: string;
  readonly kubernetesVersion: string;
  /** By which nodes reach the API server. */
  readonly apiServerName: string;
  readonly networkPlugin: string;
  readonly networkPluginMode: string;
  readonly networkDataplane: string;
  readonly networkPolicy: string;
  /** Of its nodes. */
  readonly kubeletIdentity: { readonly resourceId: string; readonly clientId: string };
  readonly provisioningMode: 'Auto' | 'Manual';
  readonly defaultNodePools: 'Auto' | 'None';
  /** `rapid`, `stable`, `patch`, `node-image` or `none`. */
  readonly upgradeChannel: string;
}

export function managedClusterOf({ id, name, location, properties }: ArmResource): ManagedCluster {
  const network = (member: string): string => textAt(properties, 'networkProfile', member) ?? '';
  const identity = (member: string): string => textAt(properties, 'identityProfile', 'kubeletidentity', member) ?? '';
  const provisioning = (member: string): string | undefined => textAt(properties, 'nodeProvisioningProfile', member);
  return {
    resourceGroup: id.split('/')[4] ?? '',
    name,
    location: location ?? '',
    nodeResourceGroup: textAt(properties, 'nodeResourceGroup') ?? '',
    kubernetesVersion: textAt(properties, 'currentKubernetesVersion') ?? '',
    apiServerName: resolvableNames(properties)[0] ?? '',
    networkPlugin: network('networkPlugin'),
    networkPluginMode: network('networkPluginMode'),
    networkDataplane: network('networkDataplane'),
    networkPolicy: network('networkPolicy'),
    kubeletIdentity: { resourceId: identity('resourceId'), clientId: identity('clientId') },
    provisioningMode: provisioning('mode') === 'Auto' ? 'Auto' : 'Manual',
    defaultNodePools: provisioning('defaultNodePools') === 'None' ? 'None' : 'Auto',
    upgradeChannel: textAt(properties, 'autoUpgradeProfile', 'upgradeChannel') ?? 'none',
  };
}
