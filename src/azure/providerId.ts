/** The provider id of a VM: `azure://` and its resource id. */
const VIRTUAL_MACHINE =
  /^azure:\/\/\/subscriptions\/([^/]+)\/resourceGroups\/([^/]+)\/providers\/Microsoft\.Compute\/virtualMachines\/([^/]+)$/;

/** The resource group is written in lower case, as the cloud's node controller does; the rest is unchanged. */
export function providerIdOf(resourceId: string): string {
  return `azure://${resourceId.replace(/^(\/subscriptions\/[^/]+\/resourceGroups\/)([^/]+)/i, lowerGroup)}`;
}

function lowerGroup(_match: string, head: string, group: string): string {
  return `${head}${group.toLowerCase()}`;
}

/** The VM's name, or undefined if the id is not one of a VM. */
export function vmNameOf(providerId: string): string | undefined {
  return VIRTUAL_MACHINE.exec(providerId)?.[3];
}

const PREFIX = 'aks-';

/** The name of a claim's VM, and of its interface. */
export function vmNameFor(claimName: string): string {
  return `${PREFIX}${claimName}`;
}

/** The claim for which a VM was created, or undefined if its name does not tell. */
export function claimNameOf(machineName: string): string | undefined {
  return machineName.startsWith(PREFIX) ? machineName.slice(PREFIX.length) : undefined;
}
