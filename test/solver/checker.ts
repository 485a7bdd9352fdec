/**
 * Would kube-scheduler accept this plan? Written from the Kubernetes documentation, on plain labels and lists, slow on
 * purpose and without any of the solver's own code. In: a problem and its solution; out: complaints, none when fine.
 */
import type { LabelSelector } from 'kubernetes-types/meta/v1.js';
import type { PodAffinityTerm, TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import type { Pod } from '../../src/api/kinds.ts';
import type { Taint } from '../../src/api/kinds/nodeTemplate.ts';
import { Labels } from '../../src/api/labels.ts';
import { Quantity } from '../../src/units/quantity.ts';
import type { NewNode, Problem, Solution } from '../../src/solver/problem.ts';

type Record_ = Readonly<Record<string, string>>;

interface CheckedNode {
  readonly name: string;
  readonly labels: Record_;
  readonly taints: readonly Taint[];
  readonly room: Readonly<Record<string, Quantity>>;
  readonly pods: Pod[];
  readonly limits: ReadonlyMap<string, number>;
}

const keyOf = (pod: Pod): string => `${pod.metadata.namespace ?? 'default'}/${pod.metadata.name}`;

export function complaints(problem: Problem, solution: Solution): string[] {
  const found: string[] = [];
  const seen = new Map<string, number>();
  const placed = [...solution.newNodes.flatMap(({ pods }) => pods), ...solution.onExisting.flatMap(({ pods }) => pods)];
  for (const pod of [...placed, ...solution.unplaced.map(({ pod: each }) => each)]) {
    seen.set(keyOf(pod), (seen.get(keyOf(pod)) ?? 0) + 1);
  }
  for (const pod of problem.pods)
    if (seen.get(keyOf(pod)) !== 1) found.push(`${keyOf(pod)} appears ${seen.get(keyOf(pod)) ?? 0} times`);
  if (seen.size !== problem.pods.length) found.push('pods appear that nobody asked about');
  found.push(...checkMachines(problem, solution), ...checkReservations(solution));
  found.push(...checkGroups(problem, solution), ...checkPriorities(problem, solution));
  // Whatever alternative is bought, the pods must be able to run: try the first and the last of each.
  for (const pick of [0, -1]) found.push(...checkScheduling(problem, solution, pick));
  return found;
}

/** No reservation is promised more often than it has machines, and who has one has nothing else. */
function checkReservations(solution: Solution): string[] {
  const found: string[] = [];
  const taken = new Map<string, number>();
  for (const { alternatives } of solution.newNodes) {
    const kinds = new Set(alternatives.map(({ capacityType }) => capacityType === 'reserved'));
    if (kinds.size > 1) found.push('a node both reserved and not');
    if (!kinds.has(true)) continue;
    const { instanceType, zone } = alternatives[0]!;
    const offering = instanceType.offerings.find((each) => each.capacityType === 'reserved' && each.zone === zone);
    const name = offering?.reservationId ?? `${instanceType.name}/${zone}`;
    taken.set(name, (taken.get(name) ?? 0) + 1);
    if (taken.get(name)! > (offering?.reservationCapacity ?? 0))
      found.push(`reservation ${name} is promised too often`);
  }
  return found;
}

/** Enough members of a group have a place, or none of those who wait gets one. */
function checkGroups(problem: Problem, solution: Solution): string[] {
  const groupOf = ({ metadata }: Pod): string | undefined => {
    const name = metadata.annotations?.['nodewright.dev/pod-group'];
    return name === undefined ? undefined : `${metadata.namespace ?? 'default'}/${name}`;
  };
  const placed = [...solution.newNodes, ...solution.onExisting].flatMap(({ pods }) => pods);
  const running = problem.nodes.flatMap(({ pods }) => pods);
  return [...new Set(problem.pods.map(groupOf))].flatMap((group) => {
    const members = (pods: readonly Pod[]): Pod[] => pods.filter((pod) => groupOf(pod) === group);
    const asked = members(problem.pods).map(({ metadata }) =>
      Number(metadata.annotations?.['nodewright.dev/pod-group-min'] ?? 0),
    );
    const needed = Math.max(...asked) || members(problem.pods).length;
    const got = members(placed).length;
    const fine = group === undefined || got === 0 || got + members(running).length >= needed;
    return fine ? [] : [`group ${group}: ${got} of ${needed}`];
  });
}

/** Of two pods that ask for the same, the one that matters more does not wait while the other has a new machine. */
function checkPriorities({ volumes }: Problem, solution: Solution): string[] {
  const shapeOf = (pod: Pod): string =>
    JSON.stringify([
      pod.metadata.namespace,
      pod.metadata.labels,
      { ...pod.spec, priority: 0 },
      volumes?.get(keyOf(pod))?.attachments,
      volumes?.get(keyOf(pod))?.alternatives.map(String),
    ]);
  const bought = solution.newNodes.flatMap(({ pods }) => pods);
  return solution.unplaced.flatMap(({ pod, reason }) => {
    if (reason.kind !== 'refused' || pod.metadata.annotations !== undefined) return [];
    const lesser = bought.find(
      (other) => (other.spec?.priority ?? 0) < (pod.spec?.priority ?? 0) && shapeOf(other) === shapeOf(pod),
    );
    return lesser === undefined ? [] : [`${keyOf(pod)} waits although ${keyOf(lesser)} matters less`];
  });
}

function checkMachines(problem: Problem, solution: Solution): string[] {
  const found: string[] = [];
  for (const offer of problem.pools) {
    const nodes = solution.newNodes.filter(({ pool }) => pool === offer.pool);
    for (const [name, limit] of Object.entries(offer.pool.spec.limits ?? {})) {
      let used = offer.used[name] ?? Quantity.zero;
      for (const node of nodes) {
        const most = node.alternatives.map(({ instanceType }) =>
          name === 'nodes' ? Quantity.fromValue(1) : (instanceType.capacity[name] ?? Quantity.zero),
        );
        used = used.add(most.reduce((left, right) => (left.compare(right) > 0 ? left : right)));
      }
      if (nodes.length > 0 && used.compare(Quantity.parse(limit)) > 0)
        found.push(`limit ${name} of ${offer.pool.metadata.name}`);
    }
  }
  for (const node of solution.newNodes) {
    if (node.alternatives.length === 0) found.push('a node without alternatives');
    const prices = node.alternatives.map(({ pricePerHour }) => pricePerHour);
    if (prices.some((price, at) => at > 0 && price < prices[at - 1]!))
      found.push('alternatives are not in order of price');
    for (const { key, minValues } of node.pool.spec.template.spec.requirements as {
      key: string;
      minValues?: number;
    }[]) {
      if (minValues === undefined || node.minValuesRelaxed) continue;
      const values = new Set(
        node.alternatives.flatMap(({ instanceType }) => [...instanceType.requirements.get(key).values]),
      );
      if (values.size < minValues) found.push(`minValues of ${key}: ${values.size} < ${minValues}`);
    }
  }
  const total = solution.newNodes.reduce((sum, { alternatives }) => sum + (alternatives[0]?.pricePerHour ?? 0), 0);
  if (Math.abs(total - solution.pricePerHour) > 1e-9) found.push(`price ${solution.pricePerHour} is not ${total}`);
  if (solution.lowerBound.pricePerHour > total + 1e-9)
    found.push(`bound ${solution.lowerBound.pricePerHour} above ${total}`);
  return found;
}

function checkScheduling(problem: Problem, solution: Solution, pick: number): string[] {
  const nodes: CheckedNode[] = problem.nodes.map((node) => ({
    name: node.name,
    labels: { [Labels.hostname]: node.name, ...node.labels },
    taints: node.taints,
    room: node.free,
    pods: [],
    limits: node.volumeLimits ?? new Map(),
  }));
  solution.newNodes.forEach((node, index) => nodes.push(newNode(node, index, pick, problem)));
  const running = new Map(problem.nodes.map((node) => [node.name, node.pods]));
  const wanted: { pod: Pod; node: CheckedNode }[] = [];
  for (const { node, pods } of solution.onExisting) {
    const target = nodes.find(({ name }) => name === node)!;
    for (const pod of pods) wanted.push({ pod, node: target });
  }
  solution.newNodes.forEach(({ pods }, index) => {
    for (const pod of pods) wanted.push({ pod, node: nodes[problem.nodes.length + index]! });
  });
  const world = (): World => ({ problem, nodes: nodes.map((node) => ({ ...node, pods: [] })), running });
  let stuck: string[] = [];
  for (const order of ordersOf(wanted)) {
    stuck = scheduleAll(world(), order);
    if (stuck.length === 0) return [];
  }
  return stuck;
}

interface World {
  readonly problem: Problem;
  readonly nodes: CheckedNode[];
  readonly running: ReadonlyMap<string, readonly Pod[]>;
}

/** Whoever can come comes, in order; after each the first in line is asked again, so that the free come last. */
function scheduleAll(world: World, wanted: readonly { pod: Pod; node: CheckedNode }[]): string[] {
  const left = [...wanted];
  while (left.length > 0) {
    const why: string[] = [];
    const next = left.findIndex(({ pod, node }) => {
      const here = world.nodes.find(({ name }) => name === node.name)!;
      const refused = refusal(pod, here, world);
      if (refused === undefined) here.pods.push(pod);
      else why.push(`${keyOf(pod)} on ${node.name}: ${refused}`);
      return refused === undefined;
    });
    if (next < 0) return why;
    left.splice(next, 1);
  }
  return [];
}

function newNode(node: NewNode, index: number, pick: number, problem: Problem): CheckedNode {
  const chosen = node.alternatives.at(pick)!;
  const { metadata, spec } = node.pool.spec.template;
  const labels: Record<string, string> = {};
  for (const requirement of chosen.instanceType.requirements) {
    if (requirement.operator === 'In' && requirement.values.size === 1)
      labels[requirement.key] = [...requirement.values][0]!;
  }
  for (const requirement of node.requirements) {
    if (requirement.operator === 'In' && requirement.values.size === 1)
      labels[requirement.key] ??= [...requirement.values][0]!;
    else if (!(requirement.key in labels)) {
      const value = requirement.anyValue(() => 0);
      if (value !== undefined && !requirement.key.startsWith('topology.kubernetes.io'))
        labels[requirement.key] ??= value;
    }
  }
  Object.assign(labels, metadata?.labels, {
    [Labels.zone]: chosen.zone,
    [Labels.capacityType]: chosen.capacityType,
    [Labels.nodePool]: node.pool.metadata.name,
    [Labels.hostname]: `new-${index}`,
  });
  const bare: CheckedNode = {
    name: `new-${index}`,
    labels,
    taints: spec.taints ?? [],
    room: chosen.instanceType.allocatable,
    pods: [],
    limits: new Map(),
  };
  const daemons = problem.daemons.filter((daemon) => toleratesAll(daemon, bare.taints) && matchesNode(daemon, bare));
  const room: Record<string, Quantity> = { ...bare.room };
  for (const daemon of daemons) {
    for (const [name, amount] of Object.entries(requestsOf(daemon)))
      room[name] = (room[name] ?? Quantity.zero).subtract(amount);
  }
  return { ...bare, room };
}

function refusal(pod: Pod, node: CheckedNode, world: World): string | undefined {
  if (!toleratesAll(pod, node.taints)) return 'taints';
  if (!matchesNode(pod, node)) return 'node affinity';
  const here = [...(world.running.get(node.name) ?? []), ...node.pods];
  if (!fitsResources(pod, node)) return 'resources';
  if (portsOf(pod).some((port) => here.some((other) => portsOf(other).some((taken) => clash(port, taken)))))
    return 'ports';
  const volumes = world.problem.volumes?.get(keyOf(pod));
  if (volumes && volumes.alternatives.length > 0) {
    const fine = volumes.alternatives.some((alternative) =>
      alternative
        .toItems()
        .every(({ key, operator, values }) =>
          matchesExpression({ key, operator, values: [...(values ?? [])] }, node.labels),
        ),
    );
    if (!fine) return 'volume topology';
  }
  for (const [driver, limit] of node.limits) {
    const claims = new Set(
      [...here, pod].flatMap((each) =>
        (world.problem.volumes?.get(keyOf(each))?.attachments ?? []).flatMap((one) =>
          one.driver === driver ? [one.claim] : [],
        ),
      ),
    );
    const own = (volumes?.attachments ?? []).some((one) => one.driver === driver);
    if (own && claims.size > limit) return 'volume limits';
  }
  return spreadRefusal(pod, node, world) ?? affinityRefusal(pod, node, world);
}

const podsOn = (node: CheckedNode, world: World): Pod[] => [...(world.running.get(node.name) ?? []), ...node.pods];

/** Its own constraints, or else the cluster's defaults with the selector that is deduced for it. */
function spreadOf(pod: Pod, { defaultSpread }: Problem): readonly TopologySpreadConstraint[] {
  const own = pod.spec?.topologySpreadConstraints ?? [];
  const labelSelector = own.length > 0 ? undefined : defaultSpread?.selectorOf(pod);
  if (labelSelector === undefined) return own;
  return (defaultSpread?.constraints ?? []).map((constraint) => ({ ...constraint, labelSelector }));
}

function spreadRefusal(pod: Pod, node: CheckedNode, world: World): string | undefined {
  for (const constraint of spreadOf(pod, world.problem)) {
    if (constraint.whenUnsatisfiable !== 'DoNotSchedule') continue;
    const { topologyKey, maxSkew, minDomains = 1 } = constraint;
    if (node.labels[topologyKey] === undefined) return `no label ${topologyKey}`;
    let selector = constraint.labelSelector;
    for (const key of constraint.matchLabelKeys ?? []) {
      const value = pod.metadata.labels?.[key];
      if (value !== undefined && selector)
        selector = { ...selector, matchLabels: { ...selector.matchLabels, [key]: value } };
    }
    const counts = new Map<string, number>();
    for (const other of world.nodes) {
      const domain = other.labels[topologyKey];
      if (domain === undefined) continue;
      if (constraint.nodeAffinityPolicy !== 'Ignore' && !matchesNode(pod, other)) continue;
      if (constraint.nodeTaintsPolicy === 'Honor' && !toleratesAll(pod, other.taints)) continue;
      const matching = podsOn(other, world).filter(
        (each) =>
          each.metadata.deletionTimestamp === undefined &&
          (each.metadata.namespace ?? 'default') === (pod.metadata.namespace ?? 'default') &&
          selects(selector, each.metadata.labels),
      );
      counts.set(domain, (counts.get(domain) ?? 0) + matching.length);
    }
    const least = counts.size < minDomains ? 0 : Math.min(...counts.values());
    const self = selects(selector, pod.metadata.labels) ? 1 : 0;
    if ((counts.get(node.labels[topologyKey]) ?? 0) + self - least > maxSkew) return `spread over ${topologyKey}`;
  }
  return undefined;
}

function affinityRefusal(pod: Pod, node: CheckedNode, world: World): string | undefined {
  const all = world.nodes.flatMap((each) => podsOn(each, world).map((other) => ({ other, at: each })));
  const terms = pod.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (terms.length > 0) {
    const company = all.filter(({ other }) => terms.every((term) => termSelects(term, pod, other, world)));
    const selfish = terms.every((term) => termSelects(term, pod, pod, world));
    if (terms.some(({ topologyKey }) => node.labels[topologyKey] === undefined)) return 'affinity without label';
    const near = terms.every(({ topologyKey }) =>
      company.some(({ at }) => at.labels[topologyKey] === node.labels[topologyKey]),
    );
    const nobody = company.every(({ at }) => terms.every(({ topologyKey }) => at.labels[topologyKey] === undefined));
    if (!near && !(nobody && selfish)) return 'affinity';
  }
  const keeps = (owner: Pod, at: CheckedNode, other: Pod, there: CheckedNode): boolean =>
    (owner.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).some(
      (term) =>
        at.labels[term.topologyKey] !== undefined &&
        at.labels[term.topologyKey] === there.labels[term.topologyKey] &&
        termSelects(term, owner, other, world),
    );
  if (all.some(({ other, at }) => keeps(pod, node, other, at))) return 'anti-affinity';
  if (all.some(({ other, at }) => keeps(other, at, pod, node))) return 'anti-affinity of another';
  return undefined;
}

function termSelects(term: PodAffinityTerm, owner: Pod, other: Pod, world: World): boolean {
  const own = owner.metadata.namespace ?? 'default';
  const namespace = other.metadata.namespace ?? 'default';
  const labels = { 'kubernetes.io/metadata.name': namespace, ...world.problem.namespaces?.get(namespace) };
  const listed = (term.namespaces ?? []).includes(namespace);
  const chosen = term.namespaceSelector !== undefined && selects(term.namespaceSelector, labels);
  const implied = term.namespaces === undefined && term.namespaceSelector === undefined && namespace === own;
  return (listed || chosen || implied) && selects(term.labelSelector, other.metadata.labels);
}

function selects(selector: LabelSelector | undefined, labels: Record_ = {}): boolean {
  if (selector === undefined) return false;
  return (
    Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    (selector.matchExpressions ?? []).every((expression) => matchesExpression(expression, labels))
  );
}

function matchesNode(pod: Pod, node: CheckedNode): boolean {
  const { nodeSelector = {}, affinity } = pod.spec ?? {};
  if (!Object.entries(nodeSelector).every(([key, value]) => node.labels[key] === value)) return false;
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (terms === undefined) return true;
  return terms.some(
    ({ matchExpressions = [], matchFields = [] }) =>
      matchExpressions.length + matchFields.length > 0 &&
      matchExpressions.every((expression) => matchesExpression(expression, node.labels)) &&
      matchFields.every((field) => matchesExpression(field, { 'metadata.name': node.name })),
  );
}

function matchesExpression(expression: { key: string; operator: string; values?: string[] }, labels: Record_): boolean {
  const value = labels[expression.key];
  const values = expression.values ?? [];
  switch (expression.operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

function toleratesAll(pod: Pod, taints: readonly Taint[]): boolean {
  return taints
    .filter(({ effect }) => effect !== 'PreferNoSchedule')
    .every((taint) =>
      (pod.spec?.tolerations ?? []).some(
        ({ key, operator = 'Equal', value = '', effect }) =>
          (!effect || effect === taint.effect) &&
          (!key || key === taint.key) &&
          (operator === 'Exists' || value === (taint.value ?? '')),
      ),
    );
}

function requestsOf(pod: Pod): Record<string, Quantity> {
  const total: Record<string, Quantity> = { pods: Quantity.fromValue(1) };
  for (const { resources } of pod.spec?.containers ?? []) {
    for (const [name, amount] of Object.entries(resources?.requests ?? {})) {
      total[name] = (total[name] ?? Quantity.zero).add(Quantity.parse(amount));
    }
  }
  return total;
}

function fitsResources(pod: Pod, node: CheckedNode): boolean {
  const total = requestsOf(pod);
  for (const other of node.pods) {
    for (const [name, amount] of Object.entries(requestsOf(other)))
      total[name] = (total[name] ?? Quantity.zero).add(amount);
  }
  return Object.keys(requestsOf(pod)).every((name) => total[name]!.compare(node.room[name] ?? Quantity.zero) <= 0);
}

interface Port {
  readonly ip: string;
  readonly port: number;
  readonly protocol: string;
}

function portsOf(pod: Pod): Port[] {
  return (pod.spec?.containers ?? []).flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort, hostIP = '0.0.0.0', protocol = 'TCP' }) =>
      hostPort ? [{ ip: hostIP, port: hostPort, protocol }] : [],
    ),
  );
}

const clash = (left: Port, right: Port): boolean =>
  left.port === right.port &&
  left.protocol === right.protocol &&
  (left.ip === right.ip || left.ip === '0.0.0.0' || right.ip === '0.0.0.0');

/**
 * Orders in which the pods may come: as planned, then workload after workload in every order of the workloads. That
 * some order works is all that can be asked; which one the scheduler takes nobody knows.
 */
function ordersOf<Item extends { pod: Pod }>(items: readonly Item[]): Item[][] {
  const workload = ({ pod }: Item): string => pod.metadata.name.replace(/-[^-]*$/, '');
  const names = [...new Set(items.map(workload))].sort();
  const orders = [
    [...items],
    ...permutations(names).map((order) => order.flatMap((name) => items.filter((item) => workload(item) === name))),
  ];
  const priority = ({ pod }: Item): number => pod.spec?.priority ?? 0;
  const byPriority = orders.map((order) => order.toSorted((left, right) => priority(right) - priority(left)));
  return [...byPriority, ...orders];
}

function permutations(names: readonly string[]): string[][] {
  if (names.length <= 1) return [[...names]];
  return names.flatMap((first) => permutations(names.filter((name) => name !== first)).map((rest) => [first, ...rest]));
}
