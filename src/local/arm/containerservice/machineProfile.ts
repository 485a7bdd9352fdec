/** Profiles of AKS machines made from agent pools, their provisioning errors, and the check of changes. */
import type { ArmError } from '../armError.ts';
import { at, listAt, objectAt, textAt, textsAt, type JsonObject } from '../jsonPath.ts';
import type { ArmResource } from '../resourceStore.ts';
import { aksRefusal } from './aksRefusal.ts';

/** Returns the profile of a pool's machines, in the shape of a machine's properties. */
export function profileOfPool(pool: JsonObject): JsonObject {
  return {
    hardware: { vmSize: pool['vmSize'] },
    operatingSystem: {
      osSKU: pool['osSKU'],
      osType: 'Linux',
      osDiskSizeGB: pool['osDiskSizeGB'],
      osDiskType: pool['osDiskType'],
    },
    kubernetes: {
      nodeLabels: textsAt(pool, 'nodeLabels'),
      nodeTaints: listAt(pool, 'nodeTaints'),
      maxPods: pool['maxPods'],
      orchestratorVersion: pool['orchestratorVersion'],
    },
    ...(textAt(pool, 'vnetSubnetID') === undefined ? {} : { network: { vnetSubnetID: pool['vnetSubnetID'] } }),
    nodeImageVersion: pool['nodeImageVersion'],
    mode: pool['mode'],
    ...(pool['scaleSetPriority'] === 'Spot' ? { priority: 'Spot' } : {}),
    tags: textsAt(pool, 'tags'),
  };
}

/** Returns a failure as AKS reports it: with its own code for quota, and compute's error in the details. */
export function provisioningErrorOf(failure: ArmError): JsonObject {
  const { code, message } = failure.content();
  return {
    code: code === 'OperationNotAllowed' && message.includes('quota') ? 'QuotaExceeded' : code,
    message: `Code="${code}" Message="${message}"`,
    details: [{ code, message }],
  };
}

export function checkImmutable(existing: ArmResource, body: unknown, zones: readonly string[]): void {
  const wanted = objectAt(body, 'properties');
  const differs = (...path: readonly string[]): boolean => {
    const [old, next] = [at(existing.properties, ...path), at(wanted, ...path)];
    return next !== undefined && old !== undefined && old !== next;
  };
  const priority = (from: JsonObject): unknown => from['priority'] ?? 'Regular';
  const changedZone = zones.length > 0 && existing.zones?.[0] !== zones[0];
  if (!differs('hardware', 'vmSize') && priority(existing.properties) === priority(wanted) && !changedZone) return;
  throw aksRefusal('OperationNotAllowed.machine', { name: existing.name });
}
