/**
 * Periodic work of AKS on a cluster: rotate its bootstrap token, publish the next maintenance window, upgrade
 * Kubernetes.
 */
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import type { Kube } from '../kube/kube.ts';
import type { Log } from '../kube/log.ts';
import { keepBootstrapToken } from './bootstrapToken.ts';
import { fallbackWindow } from './fallbackSchedule.ts';
import { isOpen, type MaintenanceWindow } from './maintenanceSchedule.ts';
import { upgradeTarget, type UpgradeChannel } from './upgradeChannel.ts';
import { publishWindow } from './upcomingWindow.ts';

/** A managed cluster and its maintenance settings. */
export interface KeptCluster {
  /** Its resource group and name. */
  readonly name: string;
  readonly kubernetesVersion: string;
  readonly provisioningMode: 'Auto' | 'Manual';
  readonly upgradeChannel: UpgradeChannel;
  /** Absent: at any time. */
  readonly autoUpgradeWindow: MaintenanceWindow | undefined;
  /** Absent: the fallback schedule while node auto-provisioning is on. */
  readonly nodeImageWindow: MaintenanceWindow | undefined;
}

export interface UpkeepOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Undefined when the cluster was deleted. */
  readonly cluster: () => KeptCluster | undefined;
  readonly versions: readonly string[];
  readonly upgrade: (version: string) => void;
}

/** Milliseconds between rounds; a changed schedule is used from the next one on. */
const LOOK_AGAIN = 30_000;

export async function runUpkeep(options: UpkeepOptions, stop: AbortSignal): Promise<void> {
  const { clock, log } = options;
  while (!stop.aborted) {
    try {
      await keepOnce(options);
    } catch (error) {
      if (stop.aborted) return;
      log.error('upkeep of a cluster failed; trying again', { error });
    }
    await clock.sleep(LOOK_AGAIN, stop).catch(() => undefined);
  }
}

export async function keepOnce(options: UpkeepOptions): Promise<void> {
  const { kube, clock, log, cluster, versions, upgrade } = options;
  const kept = cluster();
  if (kept === undefined) return;
  // Also in mode Manual: nodes of a self-hosted nodewright join with it.
  await keepBootstrapToken(options);
  const now = clock.now();
  const fallback = kept.provisioningMode === 'Auto' ? fallbackWindow(kept.name) : undefined;
  await publishWindow(kube, kept.nodeImageWindow ?? fallback, now);
  const target = upgradeTarget(kept.kubernetesVersion, kept.upgradeChannel, versions);
  if (target === undefined) return;
  if (kept.autoUpgradeWindow !== undefined && !isOpen(kept.autoUpgradeWindow, now)) return;
  log.info('upgrading Kubernetes', { from: kept.kubernetesVersion, to: target, channel: kept.upgradeChannel });
  upgrade(target);
}
