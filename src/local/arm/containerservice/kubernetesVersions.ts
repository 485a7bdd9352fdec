/** The supported versions of Kubernetes, and the upgrades between them that AKS allows. */
import { compareVersions } from '../versions.ts';
import { aksRefusal } from './aksRefusal.ts';

/** Minor versions and their patches, newest last. */
const KUBERNETES: Readonly<Record<string, readonly string[]>> = {
  '1.32': ['1.32.6', '1.32.9'],
  '1.33': ['1.33.3', '1.33.5'],
  '1.34': ['1.34.1', '1.34.4'],
  '1.35': ['1.35.1', '1.35.3'],
  '1.36': ['1.36.1', '1.36.3'],
};
const DEFAULT_KUBERNETES = '1.36.3';

/** All supported versions. */
export const KUBERNETES_VERSIONS: readonly string[] = Object.values(KUBERNETES).flat();

/** Returns the body of `kubernetesVersions`. */
export function listKubernetesVersions(): object {
  return {
    values: Object.entries(KUBERNETES).map(([version, patches]) => ({
      version,
      capabilities: { supportPlan: ['KubernetesOfficial'] },
      isPreview: false,
      ...(patches.includes(DEFAULT_KUBERNETES) ? { isDefault: true } : {}),
      patchVersions: Object.fromEntries(patches.map((patch) => [patch, { upgrades: upgradesOf(patch) }])),
    })),
  };
}

/** Returns the body of the older list, `orchestrators`. */
export function listOrchestrators(): readonly object[] {
  return KUBERNETES_VERSIONS.map((version) => ({
    orchestratorType: 'Kubernetes',
    orchestratorVersion: version,
    ...(version === DEFAULT_KUBERNETES ? { default: true } : {}),
    upgrades: upgradesOf(version).map((each) => ({ orchestratorType: 'Kubernetes', orchestratorVersion: each })),
  }));
}

/** Returns the patch version: the newest one for `1.34`. `cluster` is undefined for an agent pool. */
export function resolveKubernetes(version: string | undefined, cluster?: string): string {
  if (version === undefined || version === '') return DEFAULT_KUBERNETES;
  const patches = KUBERNETES[minorOf(version)];
  const resolved = version.split('.').length === 2 ? patches?.at(-1) : patches?.find((patch) => patch === version);
  if (resolved !== undefined) return resolved;
  throw cluster === undefined
    ? aksRefusal('AgentPoolK8sVersionNotSupported', { version })
    : aksRefusal('K8sVersionNotSupported', { cluster, version });
}

/** Returns later patches of the same minor version, and the patches of the next. */
export function upgradesOf(version: string): readonly string[] {
  const [major = '', minor = ''] = version.split('.');
  const next = KUBERNETES[`${major}.${Number(minor) + 1}`] ?? [];
  return [...(KUBERNETES[minorOf(version)] ?? []), ...next].filter((each) => isNewer(each, version));
}

/** Throws when a control plane may not go from one version to the other. */
export function checkUpgrade(from: string, to: string): void {
  if (from === '' || from === to) return;
  if (isNewer(from, to)) throw aksRefusal('OperationNotAllowed.downgrade', { from, to });
  const allowed = upgradesOf(from);
  if (allowed.includes(to)) return;
  throw aksRefusal('OperationNotAllowed.upgrade', { from, to, upgrades: allowed.toReversed().join(' ') });
}

export function isNewer(left: string, right: string): boolean {
  return compareVersions(left, right) > 0;
}

function minorOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}
