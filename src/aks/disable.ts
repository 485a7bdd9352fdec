/**
 * Removes nodewright from a cluster: closes and drains the pools, then sets the mode to Manual or deletes the
 * Deployment. Nothing is undone when a step fails: running the command again continues, and enabling reopens the pools.
 */
import { Kinds } from '../api/kinds.ts';
import { Labels } from '../api/labels.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { ApiVersions } from './armPort.ts';
import { assignmentsOf, federationId, identityId, isShared, readIdentity } from './azureRights.ts';
import type { AksContext } from './enable.ts';
import { areInstalled, removeObjects, RELEASE } from './installSteps.ts';
import { limitsStep, taintStep } from './closedPools.ts';
import { changeCluster, clusterId, groupId, readCluster } from './managedCluster.ts';
import type { Manifest } from './renderChart.ts';
import type { Step } from './step.ts';
import { ignoreNotFound, isNotFound } from '../kube/errors.ts';

export interface DisableOptions {
  /** A fixed pool for the pods; absent: existing nodes have room for them. */
  readonly fixedPool?: { readonly name: string; readonly count: number; readonly vmSize: string };
  /** Also drain nodes for whose pods drift finds no place: these pods wait until there is room. */
  readonly drain: boolean;
  readonly keepIdentity: boolean;
  /** The objects of the chart, by kind and name. */
  readonly objects: readonly Manifest[];
  /** Milliseconds. */
  readonly timeout: number;
  /** Called with the remaining nodes whenever they change. */
  readonly onProgress?: (nodes: readonly string[]) => void;
}

const LOOK_AGAIN = 2_000;

export function disableSteps(context: AksContext, options: DisableOptions): readonly Step[] {
  return [
    limitsStep(context.kube),
    ...(options.fixedPool === undefined ? [] : [fixedPoolStep(context, options.fixedPool)]),
    taintStep(context.kube),
    ...(options.drain ? [drainStep(context)] : []),
    emptyStep(context, options),
    manualStep(context),
    removalStep(context, options.objects),
    ...(options.keepIdentity ? [] : [identityStep(context)]),
  ];
}

function fixedPoolStep({ arm, name }: AksContext, pool: NonNullable<DisableOptions['fixedPool']>): Step {
  const id = `${clusterId(name)}/agentPools/${pool.name}`;
  return {
    name: 'fixed-capacity',
    what: `add the node pool ${pool.name} with ${pool.count} nodes of ${pool.vmSize}`,
    isDone: async () => (await arm.get(id, ApiVersions.cluster)) !== undefined,
    run: () =>
      arm.put(id, ApiVersions.cluster, {
        properties: {
          count: pool.count,
          vmSize: pool.vmSize,
          mode: 'User',
          osType: 'Linux',
          type: 'VirtualMachineScaleSets',
        },
      }),
  };
}

async function nodesOf({ kube }: AksContext): Promise<readonly string[]> {
  const { items } = await kube.list(Kinds.Node, { labelSelector: Labels.nodePool });
  return items.map(({ metadata }) => metadata.name);
}

/** Deleted claims drain their nodes; pods without room elsewhere wait. */
function drainStep(context: AksContext): Step {
  const open = async () =>
    (await kubeClaims(context)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return {
    name: 'drain',
    what: 'delete every NodeClaim, which drains its node',
    isDone: async () => (await open()).length === 0,
    run: async () => {
      for (const { metadata } of await open())
        await ignoreNotFound(context.kube.delete(Kinds.NodeClaim, { name: metadata.name }));
    },
  };
}

async function kubeClaims({ kube }: AksContext) {
  try {
    return (await kube.list(Kinds.NodeClaim)).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

function emptyStep(context: AksContext, { timeout, onProgress }: DisableOptions): Step {
  return {
    name: 'empty',
    what: `wait until no node has the label ${Labels.nodePool}`,
    isDone: async () => (await nodesOf(context)).length === 0,
    run: async () => {
      const { clock } = context;
      const deadline = clock.now() + timeout;
      let shown = '';
      for (;;) {
        const nodes = await nodesOf(context);
        if (nodes.length === 0) return;
        if (nodes.join() !== shown) onProgress?.(nodes);
        shown = nodes.join();
        if (clock.now() >= deadline) {
          throw new NodewrightError('NodesLeft', { nodes, seconds: timeout / 1000 });
        }
        await clock.sleep(LOOK_AGAIN);
      }
    },
  };
}

function manualStep({ arm, name }: AksContext): Step {
  return {
    name: 'manual',
    what: 'set the node provisioning mode to Manual',
    isDone: async () => (await readCluster(arm, name)).properties.nodeProvisioningProfile?.mode !== 'Auto',
    run: () =>
      changeCluster(arm, name, ({ nodeProvisioningProfile }) => ({
        nodeProvisioningProfile: { ...nodeProvisioningProfile, mode: 'Manual' },
      })),
  };
}

/** CRDs and pools are kept, so that no user data is lost. */
function removalStep({ kube }: AksContext, objects: readonly Manifest[]): Step {
  return {
    name: 'nodewright',
    what: `remove nodewright from ${RELEASE.Namespace}; definitions and pools stay`,
    isDone: async () => !(await areInstalled(kube, objects)),
    run: () => removeObjects(kube, objects),
  };
}

function identityStep({ arm, name }: AksContext): Step {
  return {
    name: 'identity',
    what: "remove nodewright's identity, its federated credential and its role assignments; what another cluster uses stays",
    isDone: async () => {
      if ((await readIdentity(arm, name)) === undefined) return true;
      return (await isShared(arm, name)) && (await arm.get(federationId(name), ApiVersions.identity)) === undefined;
    },
    run: async () => {
      const { principalId = '' } = (await readIdentity(arm, name)) ?? {};
      const shared = await isShared(arm, name);
      const { nodeResourceGroup } = (await readCluster(arm, name)).properties;
      const own = groupId(name.subscriptionId, nodeResourceGroup).toLowerCase();
      for (const { id, properties } of await assignmentsOf(arm, name, principalId)) {
        if (shared && properties.scope?.toLowerCase() !== own) continue;
        await arm.remove(id, ApiVersions.authorization);
      }
      await arm.remove(federationId(name), ApiVersions.identity);
      if (!shared) await arm.remove(identityId(name), ApiVersions.identity);
    },
  };
}
