/** DNS names of a cluster's API server: a public one, and for a private cluster one of its own network. */
import type { ArmContext } from '../armContext.ts';
import { at, textAt, type JsonObject } from '../jsonPath.ts';
import { aksRefusal } from './aksRefusal.ts';

interface NamedCluster {
  readonly before: JsonObject | undefined;
  readonly properties: JsonObject;
  readonly dnsPrefix: string;
  readonly location: string;
  readonly random: ArmContext['random'];
}

const isPrivate = (properties: JsonObject | undefined): boolean =>
  at(properties, 'apiServerAccessProfile', 'enablePrivateCluster') === true;

/** Returns the names. Without a DNS zone there is no private one; the public one then leads to the private address. */
export function apiServerNames({ before, properties, dnsPrefix, location, random }: NamedCluster): JsonObject {
  if (before !== undefined && isPrivate(before) !== isPrivate(properties)) {
    const property = 'properties.apiServerAccessProfile.enablePrivateCluster';
    throw aksRefusal('PropertyChangeNotAllowed', { property });
  }
  const prefix = (): string => `${dnsPrefix}-${random.uuid().slice(0, 8)}`;
  const fqdn = textAt(before, 'fqdn') ?? `${prefix()}.hcp.${location}.azmk8s.io`;
  if (!isPrivate(properties)) return { fqdn };
  const zone = textAt(properties, 'apiServerAccessProfile', 'privateDNSZone') ?? 'system';
  const hasZone = zone.toLowerCase() !== 'none';
  const hasPublicName =
    !hasZone || at(properties, 'apiServerAccessProfile', 'enablePrivateClusterPublicFQDN') !== false;
  const privateFQDN = textAt(before, 'privateFQDN') ?? `${prefix()}.${random.uuid()}.privatelink.${location}.azmk8s.io`;
  return { ...(hasPublicName && { fqdn }), ...(hasZone && { privateFQDN }) };
}

/** Returns the names that nodes can resolve, the private one first. */
export function resolvableNames(properties: JsonObject | undefined): readonly string[] {
  return [textAt(properties, 'privateFQDN'), textAt(properties, 'fqdn')].filter((name) => name !== undefined);
}
