/** AKS's periodic work on a cluster of the local AKS, according to its ARM resources. */
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import { KUBERNETES_VERSIONS } from '../../local/arm/containerservice/kubernetesVersions.ts';
import type { LocalArm } from '../../local/arm/localArm.ts';
import type { MaintenanceWindow } from '../../nap/maintenanceSchedule.ts';
import type { UpgradeChannel } from '../../nap/upgradeChannel.ts';
import { runUpkeep, type KeptCluster } from '../../nap/upkeep.ts';

export interface ClusterUpkeepOptions {
  readonly arm: LocalArm;
  readonly cluster: { readonly resourceGroup: string; readonly name: string };
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export function runClusterUpkeep(options: ClusterUpkeepOptions, stop: AbortSignal): Promise<void> {
  const { arm, cluster } = options;
  return runUpkeep(
    {
      ...options,
      cluster: () => keptCluster(arm, cluster),
      versions: KUBERNETES_VERSIONS,
      upgrade: (version) => arm.upgradeCluster(cluster, version),
    },
    stop,
  );
}

function keptCluster(arm: LocalArm, name: ClusterUpkeepOptions['cluster']): KeptCluster | undefined {
  const managed = arm.managedCluster(name);
  // Already validated by the container service.
  const window = (configuration: string): MaintenanceWindow | undefined =>
    arm.maintenanceWindow(name, configuration) as MaintenanceWindow | undefined;
  return (
    managed && {
      name: `${managed.resourceGroup}/${managed.name}`,
      kubernetesVersion: managed.kubernetesVersion,
      provisioningMode: managed.provisioningMode,
      upgradeChannel: managed.upgradeChannel as UpgradeChannel,
      autoUpgradeWindow: window('aksManagedAutoUpgradeSchedule'),
      nodeImageWindow: window('aksManagedNodeOSUpgradeSchedule'),
    }
  );
}
