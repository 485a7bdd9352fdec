/** Validation of managed clusters, with and without node auto-provisioning. */
import { timestamp } from '../../../units/timestamp.ts';
import type { ArmError } from '../armError.ts';
import { asText, objectAt, textAt, type JsonObject } from '../jsonPath.ts';
import type { Operation } from '../operations.ts';
import { aksRefusal, invalidParameter, notOneOf } from './aksRefusal.ts';

const CLUSTER_NAME = /^[a-zA-Z0-9]([-_a-zA-Z0-9]{0,61}[a-zA-Z0-9])?$/;
const DNS_PREFIX = /^[a-zA-Z0-9]([-a-zA-Z0-9]{0,52}[a-zA-Z0-9])?$/;
const CHANNELS: Readonly<Record<string, readonly string[]>> = {
  upgradeChannel: ['rapid', 'stable', 'patch', 'node-image', 'none'],
  nodeOSUpgradeChannel: ['None', 'Unmanaged', 'SecurityPatch', 'NodeImage'],
};

/** Throws for invalid values. */
export function checkCluster(name: string, given: JsonObject): void {
  if (!CLUSTER_NAME.test(name)) throw invalidParameter('resourceName');
  const prefix = textAt(given, 'dnsPrefix');
  if (prefix !== undefined && !DNS_PREFIX.test(prefix)) throw invalidParameter('dnsPrefix');
  const provisioning = given['nodeProvisioningProfile'] ?? {};
  if (typeof provisioning !== 'object' || Array.isArray(provisioning)) {
    throw invalidParameter('nodeProvisioningProfile', 'It must be an object.');
  }
  const upgrades = objectAt(given, 'autoUpgradeProfile');
  for (const [member, allowed] of Object.entries(CHANNELS)) {
    const value = upgrades[member];
    if (value === undefined || value === null || allowed.includes(asText(value))) continue;
    throw notOneOf(`autoUpgradeProfile.${member}`, value, allowed);
  }
}

/** Immutable properties of a cluster; the network plugin may still change from kubenet to overlay. */
const FIXED: readonly (readonly string[])[] = [
  ['dnsPrefix'],
  ['networkProfile', 'serviceCidr'],
  ['networkProfile', 'dnsServiceIP'],
  ['networkProfile', 'networkPlugin'],
];

/** Throws when an immutable property would change; members that are absent or empty stay as they were. */
export function checkFixed(before: JsonObject | undefined, given: JsonObject): void {
  for (const path of FIXED) {
    const [old, next] = [textAt(before, ...path), textAt(given, ...path)];
    if (old === undefined || next === undefined || next === '' || old.toLowerCase() === next.toLowerCase()) continue;
    if (old === 'kubenet' && textAt(given, 'networkProfile', 'networkPluginMode')?.toLowerCase() === 'overlay')
      continue;
    throw aksRefusal('PropertyChangeNotAllowed', { property: path.join('.') });
  }
}

/**
 * Throws when a cluster has no nodes for its own pods: neither an agent pool of mode System nor the NodePool
 * `system-surge` of node auto-provisioning.
 */
export function checkSystemPool(pools: readonly JsonObject[], hasSystemSurge: boolean): void {
  if (hasSystemSurge || pools.some((pool) => textAt(pool, 'mode') === 'System')) return;
  throw aksRefusal(pools.length === 0 ? 'InvalidParameter.pools' : 'MustDefineAtLeastOneSystemPool');
}

/** Returns the error for a change while another is in progress. */
export function inProgress(state: string, { id, startedAt }: Operation): ArmError {
  const what = IN_PROGRESS[state] ?? 'update';
  return aksRefusal('OperationNotAllowed.inProgress', { what, id, since: timestamp(startedAt) });
}

const IN_PROGRESS: Readonly<Record<string, string>> = { Creating: 'create', Deleting: 'delete' };
