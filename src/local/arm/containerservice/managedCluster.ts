/** What the rest of the local AKS needs to know of a managed cluster. */
import { textAt } from '../jsonPath.ts';
import type { ArmResource } from '../resourceStore.ts';
import { resolvableNames } from './apiServerNames.ts';

export interface ClusterName {
  readonly resourceGroup: string;
  readonly name: string;
}

export interface ManagedCluster extends ClusterName {
  readonly location: string;
  readonly nodeResourceGroup: string;
  readonly kubernetesVersion: string;
  /** DNS name by which nodes reach the API server. */
  readonly apiServerName: string;
  readonly networkPlugin: string;
  readonly networkPluginMode: string;
  readonly networkDataplane: string;
  readonly networkPolicy: string;
  /** Identity of the nodes. */
  readonly kubeletIdentity: { readonly resourceId: string; readonly clientId: string };
  readonly provisioningMode: 'Auto' | 'Manual';
  readonly defaultNodePools: 'Auto' | 'None';
  /** `rapid`, `stable`, `patch`, `node-image` or `none`. */
  readonly upgradeChannel: string;
}

export const clusterNameOf = ({ id, name }: ArmResource): ClusterName => ({
  resourceGroup: id.split('/')[4] ?? '',
  name,
});

export function managedClusterOf(cluster: ArmResource): ManagedCluster {
  const { location, properties } = cluster;
  const network = (member: string): string => textAt(properties, 'networkProfile', member) ?? '';
  const identity = (member: string): string => textAt(properties, 'identityProfile', 'kubeletidentity', member) ?? '';
  const provisioning = (member: string): string | undefined => textAt(properties, 'nodeProvisioningProfile', member);
  return {
    ...clusterNameOf(cluster),
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
