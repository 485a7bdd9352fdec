/** The next Kubernetes version of a control plane on an AKS auto-upgrade channel. */

/** `node-image` and `none` do not upgrade Kubernetes. */
export type UpgradeChannel = 'rapid' | 'stable' | 'patch' | 'node-image' | 'none';

/** `versions`: available versions. Undefined: no upgrade. Upgrades one minor version at a time. */
export function upgradeTarget(
  current: string,
  channel: UpgradeChannel,
  versions: readonly string[],
): string | undefined {
  const minors = [...new Set(versions.map(minorOf))].toSorted((left, right) => left - right);
  const newest = minors.at(-1);
  const own = minorOf(current);
  if (newest === undefined || channel === 'none' || channel === 'node-image') return undefined;
  // `rapid` uses the newest minor version, `stable` the one before.
  const most = { rapid: newest, stable: minors.at(-2) ?? newest, patch: own }[channel];
  const wanted = Math.max(Math.min(own + 1, most), own);
  const target = newestPatch(wanted, versions);
  return target !== undefined && isNewer(target, current) ? target : undefined;
}

function newestPatch(minor: number, versions: readonly string[]): string | undefined {
  return versions
    .filter((version) => minorOf(version) === minor)
    .toSorted((left, right) => patchOf(left) - patchOf(right))
    .at(-1);
}

function isNewer(left: string, right: string): boolean {
  return minorOf(left) === minorOf(right) ? patchOf(left) > patchOf(right) : minorOf(left) > minorOf(right);
}

const minorOf = (version: string): number => Number(version.split('.')[1]);
const patchOf = (version: string): number => Number(version.split('.')[2]);
