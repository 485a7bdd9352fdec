/** Changes for a node that nothing cheaper can replace: a wider pool, fewer pods. */
import type { Pod } from '../api/kinds.ts';
import { Annotations, Labels } from '../api/labels.ts';
import type { Patch } from '../ledger/explanation.ts';
import { podKey } from '../pods/podKey.ts';
import { Quantity } from '../units/quantity.ts';
import type { Workload } from './nodeWorkloads.ts';
import { ordinalOf } from './podSource.ts';
import { patchOf, podTarget, poolTarget, proposal, type NodePicture, type Proposal } from './proposal.ts';
import { nodeChangeText } from '../ledger/nodeChangeText.ts';

type Picture = Pick<NodePicture, 'pool' | 'workloads'>;

/** Keys that say which software runs on a node, not which node it is. */
const SOFTWARE: readonly string[] = [Labels.os, Labels.arch];
const MOST_REQUIREMENTS = 4;

export function workloadProposals({ pool, workloads }: Picture): readonly Proposal[] {
  return [...fewerRequirements(pool), ...withoutOwnPods(workloads)];
}

function fewerRequirements(pool: Picture['pool']): readonly Proposal[] {
  const requirements = pool?.spec.template.spec.requirements ?? [];
  const name = pool?.metadata.name ?? '';
  return [...new Set(requirements.map(({ key }) => key))]
    .filter((key) => !SOFTWARE.includes(key))
    .slice(0, MOST_REQUIREMENTS)
    .map((key) =>
      proposal(
        { kind: 'drop-requirement', pool: name, key },
        patchOf(poolTarget(name), {
          spec: { template: { spec: { requirements: requirements.filter((each) => each.key !== key) } } },
        }),
      ),
    );
}

const nameOf = ({ source: { target } }: Workload): string =>
  `${target.kind.toLowerCase()}/${target.namespace ?? ''}/${target.name}`;

type Containers = NonNullable<Pod['spec']>['containers'];

export function withLessRequests(containers: Containers, percent: number): Containers {
  return containers.map((container) => {
    const { requests } = container.resources ?? {};
    if (requests === undefined) return container;
    const less = Object.fromEntries(
      Object.entries(requests).map(([resource, amount]) => [
        resource,
        resource === 'cpu' || resource === 'memory' ? portionOf(resource, amount, percent) : amount,
      ]),
    );
    return { ...container, resources: { ...container.resources, requests: less } };
  });
}

function portionOf(resource: string, amount: string, percent: number): string {
  const quantity = Quantity.parse(amount);
  if (resource === 'cpu') return `${Math.ceil((quantity.milliValue() * percent) / 100)}m`;
  return String(Math.ceil((quantity.value() * percent) / 100));
}

/** Fewer replicas, so that exactly the pods of the node go. */
function withoutOwnPods(workloads: readonly Workload[]): readonly Proposal[] {
  if (workloads.length === 0) return [];
  const scaled = workloads.map((workload) => ({ workload, left: scaledWithout(workload) }));
  const owned = scaled.flatMap(({ workload, left }) => (left === undefined ? [] : [{ workload, left }]));
  const bare = scaled.flatMap(({ workload: { pods }, left }) => (left === undefined ? pods.map(podKey) : []));
  const owners = owned.map(({ workload, left }) => ({ name: nameOf(workload), replicas: left.replicas }));
  const sentences = [
    ...(owners.length === 0 ? [] : [nodeChangeText({ kind: 'scale-down', owners })]),
    ...(bare.length === 0 ? [] : [nodeChangeText({ kind: 'delete-pods', pods: bare })]),
  ];
  return [
    {
      sentence: sentences.join(', and '),
      patches: owned.flatMap(({ workload, left }) => [
        ...left.chosen.map((pod) => patchOf(podTarget(pod), FIRST_TO_GO)),
        patchOf(workload.source.target, { spec: { replicas: left.replicas } }),
      ]),
      effects: scaled.flatMap(({ workload: { pods }, left }) => (left?.gone ?? pods).map(ended)),
      ...(bare.length > 0 && { needsMore: true }),
    },
  ];
}

/** A ReplicaSet that shrinks gives up these first. */
const FIRST_TO_GO = { metadata: { annotations: { [Annotations.podDeletionCost]: '-2147483647' } } };

interface ScaledDown {
  readonly replicas: number;
  /** Pods that have to be marked, so that they and no others go. */
  readonly chosen: readonly Pod[];
  readonly gone: readonly Pod[];
}

/** Undefined for pods whose number nothing says. */
function scaledWithout({ source, pods, siblings }: Workload): ScaledDown | undefined {
  switch (source.target.kind) {
    case 'Deployment':
    case 'ReplicaSet': {
      // Those without a node go before any other.
      const replicas = Math.max(0, siblings.length - pods.length);
      return { replicas, chosen: replicas === 0 ? [] : pods, gone: pods };
    }
    case 'StatefulSet': {
      const lowest = Math.min(...pods.map(ordinalOf));
      return {
        replicas: Math.max(0, lowest - (source.firstOrdinal ?? 0)),
        chosen: [],
        gone: siblings.filter((pod) => ordinalOf(pod) >= lowest),
      };
    }
    case 'ReplicationController':
      return { replicas: 0, chosen: [], gone: siblings };
    default:
      return undefined;
  }
}

/** A pod that has ended takes no room, as one that is gone. */
const ended = (pod: Pod): Patch => patchOf(podTarget(pod), { status: { phase: 'Succeeded' } });
