/**
 * Runs nodewright for a cluster of the local AKS while its node provisioning mode is Auto, as AKS does. Restarts it
 * when the control plane is upgraded: AKS updates both together.
 */
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import type { Kube } from '../../kube/kube.ts';
import type { Log } from '../../kube/log.ts';
import type { Manager } from '../../kube/runtime/manager.ts';
import type { ManagedCluster } from '../../local/arm/containerservice/managedCluster.ts';
import type { LocalArm } from '../../local/arm/localArm.ts';
import type { Faults } from '../../local/faults/faults.ts';
import { keepBootstrapToken } from '../../nap/bootstrapToken.ts';
import { installNodeProvisioning, removeNodeProvisioning } from '../../nap/installation.ts';
import { keepAlive } from './keepAlive.ts';

export interface ClusterProvisioningOptions {
  readonly arm: Pick<LocalArm, 'managedCluster' | 'onManagedCluster'>;
  readonly cluster: { readonly resourceGroup: string; readonly name: string };
  readonly kube: Kube;
  readonly faults: Faults;
  readonly log: Log;
  /** Real time, used for restarts. */
  readonly clock: Clock;
  /** The cluster's time. */
  readonly worldClock: Clock;
  readonly random: Random;
  /** Starts nodewright with empty caches. `isDead` is true once this run was killed. */
  readonly start: (cluster: ManagedCluster, isDead: () => boolean) => Promise<Pick<Manager, 'run'>>;
}

export async function runClusterProvisioning(options: ClusterProvisioningOptions, stop: AbortSignal): Promise<void> {
  const { arm, cluster, kube, log } = options;
  while (!stop.aborted) {
    const managed = arm.managedCluster(cluster);
    if (managed === undefined) return;
    const change = nextChange(options, managed, stop);
    if (managed.provisioningMode === 'Manual') {
      await removeNodeProvisioning(kube);
      await change.happened;
      continue;
    }
    await installNodeProvisioning(kube, managed);
    await keepBootstrapToken({ kube, log, clock: options.worldClock, random: options.random });
    log.info('node auto-provisioning is on', { cluster: cluster.name, defaultNodePools: managed.defaultNodePools });
    const end = new AbortController();
    const running = keepAlive(
      { ...options, start: (isDead) => options.start(managed, isDead) },
      AbortSignal.any([stop, end.signal]),
    );
    await followPools(options, managed, stop);
    end.abort();
    await running;
    const next = arm.managedCluster(cluster)?.provisioningMode;
    if (!stop.aborted && next !== 'Auto') log.info('node auto-provisioning is off', { cluster: cluster.name });
  }
}

/** Creates default pools when they are requested later, until the mode is no longer Auto or Kubernetes is upgraded. */
async function followPools(
  options: ClusterProvisioningOptions,
  first: ManagedCluster,
  stop: AbortSignal,
): Promise<void> {
  let current = first;
  while (!stop.aborted) {
    await nextChange(options, current, stop).happened;
    const next = options.arm.managedCluster(options.cluster);
    if (next === undefined || next.provisioningMode === 'Manual') return;
    if (next.kubernetesVersion !== current.kubernetesVersion) return;
    if (next.defaultNodePools !== current.defaultNodePools) await installNodeProvisioning(options.kube, next);
    current = next;
  }
}

/** Starts listening at once; `happened` resolves when the profile differs from the known one, or on stop. */
function nextChange(
  { arm, cluster }: ClusterProvisioningOptions,
  known: ManagedCluster,
  stop: AbortSignal,
): { readonly happened: Promise<void> } {
  const differs = (): boolean => {
    const now = arm.managedCluster(cluster);
    return (
      now === undefined ||
      now.provisioningMode !== known.provisioningMode ||
      now.kubernetesVersion !== known.kubernetesVersion ||
      now.defaultNodePools !== known.defaultNodePools
    );
  };
  const happened = new Promise<void>((resolve) => {
    const finish = (): void => {
      unsubscribe();
      stop.removeEventListener('abort', finish);
      resolve();
    };
    const unsubscribe = arm.onManagedCluster(() => {
      if (differs()) finish();
    });
    stop.addEventListener('abort', finish, { once: true });
    if (stop.aborted || differs()) finish();
  });
  return { happened };
}
