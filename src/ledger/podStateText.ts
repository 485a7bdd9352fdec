import type { Alternative } from '../solver/problem.ts';
import type { Amount } from '../solver/reasons.ts';
import { amountText } from './amountText.ts';
import { countText } from './countText.ts';

/** State of a pod that no constraint blocks, or for which no node is provisioned. */
export type PodState =
  /** The template of its owner has changed since it was made. */
  | { readonly kind: 'outdated'; readonly owner: string }
  | { readonly kind: 'ended'; readonly phase: string }
  | { readonly kind: 'terminating' }
  | { readonly kind: 'bound' | 'fits'; readonly node: string }
  | { readonly kind: 'gated'; readonly gates: readonly string[] }
  | { readonly kind: 'other-scheduler'; readonly scheduler: string }
  | { readonly kind: 'promised'; readonly nodeClaim: string }
  | { readonly kind: 'planned'; readonly nodePool: string; readonly alternative: Alternative }
  | { readonly kind: 'preempting'; readonly node: string }
  | { readonly kind: 'not-looked-at' }
  /** `next` tells what is tried now. */
  | { readonly kind: 'launch-failures'; readonly launches: number; readonly message: string; readonly next: string }
  /** Pods of DaemonSets may run on one node only. */
  | { readonly kind: 'daemon-resources'; readonly node: string; readonly lacks: readonly Amount[] }
  | { readonly kind: 'daemon-host-ports'; readonly node: string; readonly holder: string }
  | { readonly kind: 'daemon-node-gone' }
  | { readonly kind: 'daemon' }
  /** The only pool that would take it is none that nodes are bought from. */
  | { readonly kind: 'static-pool'; readonly nodePool: string; readonly replicas: number }
  /** All pools that are ready are static. */
  | { readonly kind: 'only-static-pools'; readonly nodePools: readonly string[] }
  | { readonly kind: 'node-class'; readonly nodePool: string; readonly nodeClass: string; readonly message: string };

export function podStateText(state: PodState): string {
  switch (state.kind) {
    case 'ended':
      return `it has ended: ${state.phase}`;
    case 'outdated':
      return `deployment/${state.owner} has a new template and replaces it; if that takes long, explain one of its newer pods`;
    case 'terminating':
      return 'it is being deleted';
    case 'bound':
      return `it runs on node ${state.node}`;
    case 'fits':
      return `it fits on node ${state.node}; the scheduler is expected to bind it there`;
    case 'gated':
      return `scheduling gates block it: ${state.gates.join(', ')}`;
    case 'other-scheduler':
      return `scheduler "${state.scheduler}" is responsible for it, and nodes are bought only for pods of the default scheduler`;
    case 'promised':
      return `NodeClaim ${state.nodeClaim} is launching for it`;
    case 'planned': {
      const { instanceType, zone, capacityType, pricePerHour } = state.alternative;
      const place = zone === '' ? '' : ` in ${zone}`;
      return `the next plan buys ${instanceType}${place}, ${capacityType}, $${pricePerHour.toFixed(4)} per hour, of NodePool "${state.nodePool}" for it`;
    }
    case 'static-pool':
      return `NodePool "${state.nodePool}" would take it, but keeps ${state.replicas} node${state.replicas === 1 ? '' : 's'}, however many pods wait`;
    case 'only-static-pools': {
      const [first = '', ...others] = state.nodePools;
      return others.length === 0
        ? `no nodes are bought for it: NodePool "${first}" keeps the number of nodes that it states, and no other is ready`
        : `no nodes are bought for it: the NodePools that are ready keep the number of nodes that they state (such as "${first}")`;
    }
    case 'node-class': {
      const message = state.message === '' ? '' : `: ${state.message}`;
      return `NodePool "${state.nodePool}" would take it, but its node class ${state.nodeClass} is not ready${message}`;
    }
    case 'preempting':
      return `the scheduler makes room for it on node ${state.node}, where pods of lower priority have to go`;
    case 'daemon-resources':
      return `its DaemonSet made it for node ${state.node}, which lacks ${state.lacks.map(amountText).join(' and ')} for it`;
    case 'daemon-host-ports':
      return `its DaemonSet made it for node ${state.node}, where pod ${state.holder} holds its host port`;
    case 'daemon':
      return 'the one node that its DaemonSet made it for does not take it, and no node is bought for such a pod';
    case 'daemon-node-gone':
      return 'its DaemonSet made it for a node that is gone, and will delete it';
    case 'launch-failures':
      return `the cloud refused ${countText(state.launches, 'instance')} of late (${state.message}); now ${state.next}`;
    case 'not-looked-at':
      return 'the scheduler has not tried it yet';
  }
}
