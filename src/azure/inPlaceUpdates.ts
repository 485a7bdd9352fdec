/** Updates the tags and identities of running instances to match their class and the options. */
import { InvariantError } from '../errors/invariantError.ts';
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Annotations, ManagedTags } from '../api/labels.ts';
import type { AksMachineAddress, AksMachinePools } from './aksMachinePools.ts';
import type { AzureSettings } from './azureSettings.ts';
import { inPlaceHash } from './inPlaceHash.ts';
import { vmNameOf } from './providerId.ts';
import { BILLING_EXTENSION, BOOTSTRAP_EXTENSION, tagsOf } from './virtualMachineBody.ts';
import type { VirtualMachines } from './virtualMachines.ts';

export interface InPlaceUpdatesOptions {
  readonly settings: AzureSettings;
  readonly machines: VirtualMachines;
  readonly pools: AksMachinePools;
}

export class InPlaceUpdates {
  private readonly options: InPlaceUpdatesOptions;

  constructor(options: InPlaceUpdatesOptions) {
    this.options = options;
  }

  /** The desired value of the claim's annotation; pass `isAksMachine` if the claim does not tell yet. */
  hashFor(claim: NodeClaim, nodeClass: AksNodeClass, isAksMachine = machineOf(claim) !== undefined): string {
    const { settings } = this.options;
    const tags = tagsOf(claim, nodeClass, settings);
    return inPlaceHash(isAksMachine ? { tags } : { identities: settings.nodeIdentities, tags });
  }

  isCurrent(claim: NodeClaim, nodeClass: AksNodeClass): boolean {
    return claim.metadata.annotations?.[Annotations.inPlaceUpdateHash] === this.hashFor(claim, nodeClass);
  }

  /** Resolves when Azure has applied the change. Requires a known instance and a registered node. */
  async apply(claim: NodeClaim, nodeClass: AksNodeClass, signal?: AbortSignal): Promise<void> {
    const { settings, machines, pools } = this.options;
    const tags = tagsOf(claim, nodeClass, settings);
    const machine = machineOf(claim);
    if (machine !== undefined) {
      const withClaim = { ...tags, [ManagedTags.machineNodeClaim]: claim.metadata.name };
      await pools.at(machine).setTags(machine.name, withClaim, signal);
      return;
    }
    const name = vmNameOf(claim.status?.providerID ?? '');
    if (name === undefined) throw new InvariantError(`NodeClaim ${claim.metadata.name} names no VM to update`);
    const extensions = [
      ...(settings.billingExtension ? [BILLING_EXTENSION] : []),
      ...(settings.provisionMode === 'bootstrappingclient' ? [BOOTSTRAP_EXTENSION] : []),
    ];
    await machines.change(name, { tags, identities: settings.nodeIdentities, extensions }, signal);
  }
}

function machineOf(claim: NodeClaim): AksMachineAddress | undefined {
  return parseMachineId(claim.metadata.annotations?.[Annotations.aksMachineResourceId] ?? '');
}

const MACHINE_ID =
  /\/resourceGroups\/([^/]+)\/providers\/Microsoft\.ContainerService\/managedClusters\/([^/]+)\/agentPools\/([^/]+)\/machines\/([^/]+)$/i;

export function parseMachineId(id: string): AksMachineAddress | undefined {
  const [, clusterResourceGroup, clusterName, pool, name] = MACHINE_ID.exec(id) ?? [];
  if (clusterResourceGroup === undefined || clusterName === undefined || pool === undefined || name === undefined) {
    return undefined;
  }
  return { clusterResourceGroup, clusterName, pool, name };
}
