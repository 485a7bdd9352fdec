/** Changes for a node that nothing cheaper can replace: a wider pool, smaller pods, fewer pods. */
import type { Pod } from '../api/kinds.ts';
import { Labels } from '../api/labels.ts';
import type { Patch } from '../ledger/explanation.ts';
import { podKey } from '../pods/podKey.ts';
import { Quantity } from '../units/quantity.ts';
import type { Workload } from './nodeWorkloads.ts';
import { nested } from './podFixes.ts';
import { patchOf, podTarget, poolTarget, proposal, type NodePicture, type Proposal } from './proposal.ts';
import { nodeChangeText } from '../ledger/nodeChangeText.ts';

type Picture = Pick<NodePicture, 'pool' | 'workloads'>;

/** Keys that say which software runs on a node, not which node it is. */
const SOFTWARE: readonly string[] = [Labels.os, Labels.arch];
const MOST_REQUIREMENTS = 4;
/** Percentages of the requests that are tried. */
const SMALLER = [75, 50, 25];

export function workloadProposals({ pool, workloads }: Picture): readonly Proposal[] {
  return [...fewerRequirements(pool), ...smallerRequests(workloads), ...scaledDown(workloads)];
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

function smallerRequests(workloads: readonly Workload[]): readonly Proposal[] {
  const owned = workloads.filter(({ source }) => source.templatePath.length > 0);
  if (owned.length === 0) return [];
  return SMALLER.map((percent) => ({
    sentence: nodeChangeText({ kind: 'smaller-requests', owners: owned.map(nameOf), percent }),
    patches: owned.map(({ source }): Patch => {
      const containers = scaled(source.spec.containers, percent);
      return patchOf(source.target, nested(source.templatePath, { spec: { containers } }));
    }),
    effects: owned.flatMap(({ siblings }) =>
      siblings.map((pod) =>
        patchOf(podTarget(pod), { spec: { containers: scaled(pod.spec?.containers ?? [], percent) } }),
      ),
    ),
  }));
}

type Containers = NonNullable<Pod['spec']>['containers'];

function scaled(containers: Containers, percent: number): Containers {
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

/** Kinds whose pods are as many as `spec.replicas` says. */
const SCALED: readonly string[] = ['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController'];

function scaledDown(workloads: readonly Workload[]): readonly Proposal[] {
  if (workloads.length === 0) return [];
  const owned = workloads.filter(({ source }) => SCALED.includes(source.target.kind));
  const bare = workloads.filter((each) => !owned.includes(each));
  const sentences = [
    ...(owned.length === 0 ? [] : [nodeChangeText({ kind: 'scale-down', owners: owned.map(nameOf) })]),
    ...(bare.length === 0
      ? []
      : [nodeChangeText({ kind: 'delete-pods', pods: bare.flatMap(({ pods }) => pods.map(podKey)) })]),
  ];
  return [
    {
      sentence: sentences.join(', and '),
      patches: owned.map(({ source }) => patchOf(source.target, { spec: { replicas: 0 } })),
      effects: workloads.flatMap(({ siblings }) => siblings.map(ended)),
    },
  ];
}

/** A pod that has ended takes no room, as one that is gone. */
const ended = (pod: Pod): Patch => patchOf(podTarget(pod), { status: { phase: 'Succeeded' } });
