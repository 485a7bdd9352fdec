/**
 * Room on nodes that are there. In: a class and a node; out: how many of its pods the scheduler would let stand there
 * now. What was found too small for a class is not asked again.
 */
import { podKey } from '../../pods/podKey.ts';
import type { Pod } from '../../api/kinds.ts';
import { hostPortsClash, hostPortsOf, type HostPort } from '../../pods/hostPorts.ts';
import type { Requirements } from '../../constraints/requirements.ts';
import { UNLIMITED } from '../model/counters.ts';
import { addRow, intAt, itemAt, Rows } from '../rows.ts';
import type { PodClass, CompiledDemand, Variant } from '../model/compiledDemand.ts';
import type { Domains } from './domains.ts';

export class ExistingRooms {
  readonly placed = new Map<number, Pod[]>();
  private readonly compiled: CompiledDemand;
  private readonly domains: Domains;
  /** Row per node. */
  private readonly free: Rows;
  /** No node is there at all. */
  private readonly isEmpty: boolean;
  private readonly ports = new Map<number, HostPort[]>();
  private readonly claims = new Map<number, Map<string, Set<string>>>();
  /** By wish: nodes that may still take the pod as far as labels, taints, volumes and room go, in order. */
  private readonly open = new Map<Variant, number[]>();

  constructor(compiled: CompiledDemand, domains: Domains) {
    this.compiled = compiled;
    this.domains = domains;
    const { existing, table } = compiled.model;
    this.free = new Rows(table.size, existing.free.slice());
    this.isEmpty = existing.nodes.length === 0;
  }

  placeOne(podClass: PodClass, variant: Variant, pod: Pod): boolean {
    return !this.isEmpty && this.place(podClass, variant, [pod]) === 1;
  }

  /** Puts up to `most` pods onto nodes. Out: how many found room. */
  place(podClass: PodClass, variant: Variant, pods: readonly Pod[]): number {
    if (this.isEmpty || podClass.unknownResource !== undefined) return 0;
    let done = 0;
    for (const node of this.nodesFor(podClass, variant)) {
      if (done >= pods.length) break;
      const alone = variant.domain.length > 0 || variant.hostAffinity.length > 0;
      for (;;) {
        const room = Math.min(this.room(podClass, variant, node), pods.length - done, alone ? 1 : UNLIMITED);
        if (room < 1) break;
        this.take(podClass, variant, node, pods.slice(done, done + room));
        done += room;
      }
    }
    return done;
  }

  /** Why a node whose labels and taints admit the pod does not take it now; undefined when it would. */
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

  private nodesFor(podClass: PodClass, variant: Variant): number[] {
    let open = this.open.get(variant);
    if (open === undefined) {
      const { existing } = this.compiled.model;
      const { shape, tolerationsKey } = podClass;
      const { requirements, toleratesPreferNoSchedule } = variant.rung;
      const admitting = existing.admitting(
        requirements,
        variant.requirementId,
        shape.tolerations,
        tolerationsKey,
        toleratesPreferNoSchedule,
      );
      open = [];
      for (const node of admitting) if (this.mayTake(podClass, node)) open.push(node);
      this.open.set(variant, open);
      return open;
    }
    // Room only shrinks during one compiled: who is full is dropped as soon as he is first in line.
    let full = 0;
    while (full < open.length && this.fitting(podClass, itemAt(open, full)) < 1) full += 1;
    if (full > 0) open.splice(0, full);
    return open;
  }

  /** Room, and what does not change while pods are placed. */
  private mayTake(podClass: PodClass, node: number): boolean {
    return this.fitting(podClass, node) > 0 && !this.compiled.removed.has(node) && this.meetsVolumes(podClass, node);
  }

  private fitting({ row }: PodClass, node: number): number {
    return this.free.timesHeld(node, row, UNLIMITED);
  }

  /** How many pods of the class may come to the node now, one after the other. */
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
      if (intAt(counters.at(counter).onNode, node) > max) return 0;
    }
    for (const id of podClass.hostAdds) {
      const { onNode, nodeLimit } = counters.at(id);
      const own = variant.hostLimits.find(({ counter }) => counter === id)?.max ?? UNLIMITED;
      most = Math.min(most, Math.min(own, intAt(nodeLimit, node)) - intAt(onNode, node));
    }
    for (const affinity of variant.hostAffinity) {
      if (!this.domains.allowsCompany(affinity, node, intAt(counters.at(affinity.counter).onNode, node))) return 0;
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
    const { pods } = itemAt(this.compiled.model.existing.nodes, node);
    const ports = pods.flatMap((pod) => hostPortsOf(pod));
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
    addRow(this.free.row(node), row, -pods.length);
    if (shape.hostPorts.length > 0) this.portsOf(node).push(...shape.hostPorts);
    for (const attachment of shape.volumes?.attachments ?? []) attach(this.claimsOf(node), attachment);
    this.domains.recordOnNode(podClass, variant, node, pods.length);
    const placed = this.placed.get(node);
    if (placed === undefined) this.placed.set(node, Array.from(pods));
    else for (const pod of pods) placed.push(pod);
  }
}

function attach(claims: Map<string, Set<string>>, { driver, claim }: { driver: string; claim: string }): void {
  const known = claims.get(driver) ?? new Set<string>();
  claims.set(driver, known.add(claim));
}
