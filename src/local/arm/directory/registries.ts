/** Container registries, and the rights of VMs to pull from them with the roles of their identities. */
import { objectAt, textAt } from '../jsonPath.ts';
import { timestamp, type ArmContext } from '../armContext.ts';
import { refusal } from '../refusal.ts';
import type { ResourceKind } from '../resources/resourceKind.ts';
import type { ArmResource } from '../resourceStore.ts';
import { mayDo, type Principals } from './principals.ts';

const REGISTRIES = 'Microsoft.ContainerRegistry/registries';
const NAME = /^[A-Za-z0-9]{5,50}$/;
const PULL = 'Microsoft.ContainerRegistry/registries/pull/read';

export const REGISTRY_KIND: ResourceKind = {
  type: REGISTRIES,
  tracked: true,
  put: 'sync',
  patch: 'merge',
  remove: 'sync',
  duration: 'other',
  members: ['sku'],
  properties: ({ name, body, existing, context }) => {
    if (!NAME.test(name)) throw refusal('InvalidRegistryName', { name });
    return {
      ...existing?.properties,
      ...objectAt(body, 'properties'),
      loginServer: hostOf(name),
      creationDate: textAt(existing?.properties, 'creationDate') ?? timestamp(context.clock.now()),
      adminUserEnabled: false,
    };
  },
};

/**
 * Whether a VM may pull from the registry at `host` as the identity `clientId`; `elsewhere` when this Azure has no such
 * registry.
 */
export function pullRight(
  { store }: ArmContext,
  principals: Principals,
  machine: ArmResource,
  host: string,
  clientId: string,
): 'granted' | 'denied' | 'elsewhere' {
  const registry = store.list(REGISTRIES).find(({ name }) => hostOf(name) === host.toLowerCase());
  if (registry === undefined) return 'elsewhere';
  const assigned = Object.values(objectAt(machine.identity, 'userAssignedIdentities'));
  const principal = principals.find(clientId);
  const hasIdentity = assigned.some((identity) => textAt(identity, 'clientId') === clientId);
  return hasIdentity && principal !== undefined && mayDo(principal, PULL, registry.id) ? 'granted' : 'denied';
}

function hostOf(registry: string): string {
  return `${registry.toLowerCase()}.azurecr.io`;
}
