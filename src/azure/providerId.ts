/** The provider id of a VM: `azure://` and its resource id. */
const VIRTUAL_MACHINE =
  /^azure:\/\/\/subscriptions\/([^/]+)\/resourceGroups\/([^/]+)\/providers\/Microsoft\.Compute\/virtualMachines\/([^/]+)$/;

/** The group's name is written in lower case, as the cloud's node controller does; the rest stays. */
export function providerIdOf(resourceId: string): string {
  return `azure://${resourceId.replace(/^(\/subscriptions\/[^/]+\/resourceGroups\/)([^/]+)/i, lowerGroup)}`;
}

function lowerGroup(_match: string, head: string, group: string): string {
  return `${head}${group.toLowerCase()}`;
}

/** The VM's name, or undefined when the id is not one of a VM. */
export function vmNameOf(providerId: string): string | undefined {
  return VIRTUAL_MACHINE.exec(providerId)?.[3];
}

const PREFIX = 'aks-';

/** What the VM of a claim is called, and its interface too. */
export function vmNameFor(claimName: string): string {
  return `${PREFIX}${claimName}`;
}

/** The claim that a VM was made for, or undefined when its name does not say. */
export function claimNameOf(machineName: string): string | undefined {
  return machineName.startsWith(PREFIX) ? machineName.slice(PREFIX.length) : undefined;
}
