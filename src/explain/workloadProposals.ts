/** Changes for a node without a cheaper replacement: a wider pool, fewer pods. */
import type { Pod } from '../api/kinds.ts';
import { Annotations, Labels } from '../api/labels.ts';
import type { Patch } from '../ledger/explanation.ts';
import type { NodeChange } from '../ledger/nodeChange.ts';
import { podKey } from '../pods/podKey.ts';
import { Quantity } from '../units/quantity.ts';
import type { Workload } from './nodeWorkloads.ts';
import { ordinalOf } from './podSource.ts';
import { nodeTarget, patchOf, podTarget, poolTarget, proposal, type NodePicture, type Proposal } from './proposal.ts';
import { nodeChangeText } from '../ledger/nodeChangeText.ts';

type Picture = Pick<NodePicture, 'pool' | 'workloads' | 'view'>;

/** Keys that describe the software of a node and do not identify the node. */
const SOFTWARE: readonly string[] = [Labels.os, Labels.arch];
const MOST_REQUIREMENTS = 4;

export function workloadProposals(picture: Picture): readonly Proposal[] {
  return [...fewerRequirements(picture.pool), ...withoutOwnPods(picture)];
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

/** Reduces replicas so that exactly the pods of this node are deleted, and no pods of other nodes take their room. */
function withoutOwnPods({ workloads, view }: Picture): readonly Proposal[] {
  if (workloads.length === 0) return [];
  const scaled = workloads.map((workload) => ({ workload, left: scaledWithout(workload) }));
  const owned = scaled.flatMap(({ workload, left }) => (left === undefined ? [] : [{ workload, left }]));
  const others = scaled.flatMap(({ workload, left }) => (left === undefined ? [workload] : []));
  const jobs = others.filter(isJob);
  const single = others.filter((workload) => !isJob(workload));
  const owners = owned.map(({ workload, left }) => ({ name: nameOf(workload), replicas: left.replicas }));
  const changes: readonly NodeChange[] = [
    { kind: 'cordon', node: view.name },
    ...(owners.length === 0 ? [] : [{ kind: 'scale-down', owners } as const]),
    ...(jobs.length === 0 ? [] : [{ kind: 'suspend', jobs: jobs.map(nameOf) } as const]),
    ...(single.length === 0
      ? []
      : [{ kind: 'delete-pods', pods: single.flatMap(({ pods }) => pods.map(podKey)) } as const]),
  ];
  const taints = [...(view.node?.spec?.taints ?? []), { key: CORDONED, effect: 'NoSchedule' }];
  return [
    {
      sentence: changes.map(nodeChangeText).join(', and '),
      patches: [
        patchOf(nodeTarget(view.name), { spec: { unschedulable: true } }),
        // Marked while they all exist: the rest of an emptying node may be moved at once.
        ...owned.flatMap(({ left }) => left.chosen.map((pod) => patchOf(podTarget(pod), FIRST_TO_GO))),
        ...owned.map(({ workload, left }) => patchOf(workload.source.target, { spec: { replicas: left.replicas } })),
        ...jobs.map(({ source }) => patchOf(source.target, { spec: { suspend: true } })),
        ...single.flatMap(({ pods }) => pods.map(deleted)),
      ],
      effects: [
        patchOf(nodeTarget(view.name), { spec: { taints } }),
        ...owned.flatMap(({ workload, left }) => [...left.gone, ...workload.outdated].map(ended)),
        ...jobs.flatMap(({ siblings }) => siblings.map(ended)),
      ],
      // The creator of these pods is unknown and would create them again.
      ...(single.some(({ source }) => source.remake === undefined) && { needsMore: true }),
    },
  ];
}

const isJob = ({ source }: Workload): boolean => source.target.kind === 'Job';

/** Taint of a cordoned node. */
const CORDONED = 'node.kubernetes.io/unschedulable';

const deleted = (pod: Pod): Patch => ({ target: podTarget(pod), type: 'delete', patch: {} });

/** A ReplicaSet that is scaled down deletes these pods first. */
const FIRST_TO_GO = { metadata: { annotations: { [Annotations.podDeletionCost]: '-2147483647' } } };

interface ScaledDown {
  readonly replicas: number;
  /** Pods to mark, so that exactly these are deleted. */
  readonly chosen: readonly Pod[];
  readonly gone: readonly Pod[];
}

/** Undefined for pods without a scalable owner. */
function scaledWithout({ source, pods, siblings }: Workload): ScaledDown | undefined {
  switch (source.target.kind) {
    case 'Deployment':
    case 'ReplicaSet': {
      // Pods without a node are deleted before any other.
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

/** An ended pod takes no room, like a deleted one. */
const ended = (pod: Pod): Patch => patchOf(podTarget(pod), { status: { phase: 'Succeeded' } });
