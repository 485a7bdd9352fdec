/**
 * Places pods on existing nodes: how many pods of a class the scheduler would put on a node now. Nodes found too small
 * for a class are not checked again, and stretches of full nodes are skipped.
 */
import { podKey } from '../../pods/podKey.ts';
import type { Pod } from '../../api/kinds.ts';
import { hostPortsClash, hostPortsOf, type HostPort } from '../../pods/hostPorts.ts';
import type { Requirements } from '../../constraints/requirements.ts';
import { STRETCH, type Admission } from '../model/admittingNodes.ts';
import { UNLIMITED } from '../model/hostCounts.ts';
import type { CompiledDemand } from '../model/compiledDemand.ts';
import type { PodClass, Variant } from '../model/podClass.ts';
import { addRow, floatAt, intAt, itemAt, Rows } from '../rows.ts';
import type { Domains } from './domains.ts';
import { stepsDown } from './poolFit.ts';

export class ExistingPlacement {
  readonly placed = new Map<number, Pod[]>();
  /** Preferences dropped by the placed pods. */
  wishesDropped = 0;
  private readonly compiled: CompiledDemand;
  private readonly domains: Domains;
  /** Row per node: free resources before this plan; shared with the model. */
  private readonly free: Rows;
  /** By node with placed pods: free resources now. */
  private readonly left = new Map<number, Float64Array>();
  /** There are no existing nodes. */
  private readonly isEmpty: boolean;
  private readonly lastNodesFirst: boolean;
  private readonly ports = new Map<number, HostPort[]>();
  private readonly claims = new Map<number, Map<string, Set<string>>>();
  /** By variant: nodes that admit it, in order. Those before `from` are full for it or never accept it. */
  private readonly searches = new Map<Variant, { readonly admission: Admission; from: number }>();

  constructor(compiled: CompiledDemand, domains: Domains, lastNodesFirst = false) {
    this.compiled = compiled;
    this.domains = domains;
    const { existing, table } = compiled.model;
    this.free = new Rows(table.size, existing.free);
    this.isEmpty = existing.nodes.length === 0;
    this.lastNodesFirst = lastNodesFirst;
  }

  placeOne(podClass: PodClass, variant: Variant, pod: Pod): boolean {
    return !this.isEmpty && this.place(podClass, variant, [pod]) === 1;
  }

  /** Places pods on nodes, in order. Returns how many fit. */
  place(podClass: PodClass, variant: Variant, pods: readonly Pod[]): number {
    if (this.isEmpty || podClass.unknownResource !== undefined) return 0;
    const search = this.searchFor(podClass, variant);
    const { nodes } = search.admission;
    const alone = variant.domain.length > 0 || variant.hostAffinity.length > 0;
    if (this.lastNodesFirst) return this.placeFromLast(podClass, variant, pods, nodes, alone);
    let done = 0;
    let at = search.from;
    let isFirst = true;
    while (at < nodes.length && done < pods.length) {
      if (!this.mayHaveRoom(podClass, search.admission, at)) at = nextStretch(at);
      else {
        const node = intAt(nodes, at);
        if (this.mayTake(podClass, node)) {
          done += this.fill(podClass, variant, node, pods, done, alone);
          if (isFirst) search.from = at;
          isFirst = false;
          if (done >= pods.length) break;
        }
        at += 1;
      }
      if (isFirst) search.from = at;
    }
    return done;
  }

  private placeFromLast(
    podClass: PodClass,
    variant: Variant,
    pods: readonly Pod[],
    nodes: Admission['nodes'],
    alone: boolean,
  ): number {
    let done = 0;
    for (let at = nodes.length - 1; at >= 0 && done < pods.length; at--) {
      const node = intAt(nodes, at);
      if (this.mayTake(podClass, node)) done += this.fill(podClass, variant, node, pods, done, alone);
    }
    return done;
  }

  /** Why a node whose labels and taints admit the pod does not accept it now; undefined when it does. */
  obstacle(
    podClass: PodClass,
    variant: Variant,
    node: number,
  ): 'volumes' | 'resources' | 'host-ports' | 'topology' | undefined {
    if (!this.meetsVolumes(podClass, node)) return 'volumes';
    if (podClass.unknownResource !== undefined || this.fitting(podClass, node) < 1) return 'resources';
    if (!this.fitsPorts(podClass, node) || !this.fitsClaims(podClass, node)) return 'host-ports';
    const isOpen = this.hostRoom(podClass, variant, node) > 0 && this.domains.allowsNode(variant, node);
    return isOpen ? undefined : 'topology';
  }

  /** Places pods from index `done` on the node. Returns how many fit. */
  private fill(
    podClass: PodClass,
    variant: Variant,
    node: number,
    pods: readonly Pod[],
    done: number,
    alone: boolean,
  ): number {
    let placed = 0;
    for (;;) {
      const left = pods.length - done - placed;
      const room = Math.min(this.room(podClass, variant, node), left, alone ? 1 : UNLIMITED);
      if (room < 1) return placed;
      this.take(podClass, variant, node, pods.slice(done + placed, done + placed + room));
      placed += room;
    }
  }

  private searchFor(podClass: PodClass, variant: Variant): { readonly admission: Admission; from: number } {
    let search = this.searches.get(variant);
    if (search === undefined) {
      const { shape, tolerationsKey } = podClass;
      const { requirements, toleratesPreferNoSchedule } = variant.rung;
      const admission = this.compiled.model.existing.admitting(
        requirements,
        variant.requirementId,
        shape.tolerations,
        tolerationsKey,
        toleratesPreferNoSchedule,
      );
      search = { admission, from: 0 };
      this.searches.set(variant, search);
    }
    return search;
  }

  /** Whether some node of the stretch had room for the pod before this question; room only shrinks during one. */
  private mayHaveRoom({ row }: PodClass, { most }: Admission, at: number): boolean {
    const start = Math.floor(at / STRETCH) * row.length;
    for (let column = 0; column < row.length; column++) {
      const asked = floatAt(row, column);
      if (asked > 0 && asked > floatAt(most, start + column)) return false;
    }
    return true;
  }

  /** Checks room and rules that do not change while pods are placed. */
  private mayTake(podClass: PodClass, node: number): boolean {
    return (
      this.fitting(podClass, node) > 0 &&
      !this.compiled.removed.has(node) &&
      !this.isClosed(node) &&
      this.meetsVolumes(podClass, node)
    );
  }

  private isClosed(node: number): boolean {
    const { closed, model } = this.compiled;
    return closed?.has(itemAt(model.existing.nodes, node).name) ?? false;
  }

  private fitting({ row }: PodClass, node: number): number {
    const left = this.left.size === 0 ? undefined : this.left.get(node);
    return left === undefined ? this.free.timesHeld(node, row, UNLIMITED) : timesHeld(left, row);
  }

  /** How many more pods of the class the node accepts now. */
  private room(podClass: PodClass, variant: Variant, node: number): number {
    const { shape } = podClass;
    let most = this.fitting(podClass, node);
    if (most < 1) return 0;
    most = Math.min(most, this.hostRoom(podClass, variant, node));
    if (most < 1 || !this.domains.allowsNode(variant, node)) return 0;
    return this.fitsPorts(podClass, node) && this.fitsClaims(podClass, node)
      ? shape.hostPorts.length > 0 || (shape.volumes?.attachments.length ?? 0) > 0
        ? 1
        : most
      : 0;
  }

  private hostRoom(podClass: PodClass, variant: Variant, node: number): number {
    const { counters } = this.compiled;
    let most = UNLIMITED;
    for (const { counter, max } of variant.hostLimits) {
      if (counters.at(counter).hosts.on(node) > max) return 0;
    }
    for (const id of podClass.hostAdds) {
      const { hosts } = counters.at(id);
      const own = variant.hostLimits.find(({ counter }) => counter === id)?.max ?? UNLIMITED;
      most = Math.min(most, Math.min(own, hosts.limit(node)) - hosts.on(node));
    }
    for (const affinity of variant.hostAffinity) {
      if (!this.domains.allowsCompany(affinity, node, counters.at(affinity.counter).hosts.on(node))) return 0;
    }
    return most;
  }

  private meetsVolumes({ shape }: PodClass, node: number): boolean {
    const alternatives = shape.volumes?.alternatives ?? [];
    if (alternatives.length === 0) return true;
    const { existing, states } = this.compiled.model;
    return alternatives.some((each: Requirements) => existing.meets(node, each, states.requirementId(each)));
  }

  private fitsPorts({ shape }: PodClass, node: number): boolean {
    if (shape.hostPorts.length === 0) return true;
    return !this.portsOf(node).some((taken) => shape.hostPorts.some((port) => hostPortsClash(port, taken)));
  }

  private portsOf(node: number): HostPort[] {
    const known = this.ports.get(node);
    if (known !== undefined) return known;
    const { pods, reservedPorts = [] } = itemAt(this.compiled.model.existing.nodes, node);
    const ports = [...reservedPorts, ...pods.flatMap((pod) => hostPortsOf(pod))];
    this.ports.set(node, ports);
    return ports;
  }

  private fitsClaims({ shape }: PodClass, node: number): boolean {
    const attachments = shape.volumes?.attachments ?? [];
    const limits = itemAt(this.compiled.model.existing.nodes, node).volumeLimits;
    if (attachments.length === 0 || limits === undefined) return true;
    const attached = this.claimsOf(node);
    const drivers = new Map<string, Set<string>>();
    for (const { driver, claim } of attachments) {
      const wanted = drivers.get(driver) ?? new Set(attached.get(driver));
      drivers.set(driver, wanted.add(claim));
    }
    return [...drivers].every(([driver, wanted]) => wanted.size <= (limits.get(driver) ?? Number.POSITIVE_INFINITY));
  }

  private claimsOf(node: number): Map<string, Set<string>> {
    const known = this.claims.get(node);
    if (known !== undefined) return known;
    const claims = new Map<string, Set<string>>();
    const { volumes } = this.compiled.model.snapshot;
    for (const pod of itemAt(this.compiled.model.existing.nodes, node).pods) {
      for (const attachment of volumes?.get(podKey(pod))?.attachments ?? []) attach(claims, attachment);
    }
    this.claims.set(node, claims);
    return claims;
  }

  private take(podClass: PodClass, variant: Variant, node: number, pods: readonly Pod[]): void {
    const { row, shape } = podClass;
    let left = this.left.get(node);
    if (left === undefined) {
      left = this.free.copy(node);
      this.left.set(node, left);
    }
    addRow(left, row, -pods.length);
    if (shape.hostPorts.length > 0) this.portsOf(node).push(...shape.hostPorts);
    for (const attachment of shape.volumes?.attachments ?? []) attach(this.claimsOf(node), attachment);
    this.domains.recordOnNode(podClass, variant, node, pods.length);
    this.wishesDropped += stepsDown(podClass, variant) * pods.length;
    const placed = this.placed.get(node);
    if (placed === undefined) this.placed.set(node, Array.from(pods));
    else for (const pod of pods) placed.push(pod);
  }
}

const timesHeld = (room: Float64Array, load: Float64Array): number =>
  new Rows(room.length, room).timesHeld(0, load, UNLIMITED);

const nextStretch = (at: number): number => (Math.floor(at / STRETCH) + 1) * STRETCH;

function attach(claims: Map<string, Set<string>>, { driver, claim }: { driver: string; claim: string }): void {
  const known = claims.get(driver) ?? new Set<string>();
  claims.set(driver, known.add(claim));
}
