/**
 * Nodes that exist once a plan is carried out. A search considers every domain that could be opened, but the scheduler
 * compares only existing nodes: a spread that looks uneven next to domains that never open may be valid.
 */
import type { CompiledDemand } from './model/compiledDemand.ts';
import type { HostLimit } from './model/podClass.ts';
import type { OpenNode } from './placement/openNode.ts';

/** The row of an existing node, or a planned node. */
export type Place = number | OpenNode;

export interface PresentNodes {
  /** Domains that a spread compares. */
  domains(counter: number): Int32Array;
  podsOn(place: Place, counter: number): number;
  /** The lowest pod count on any node that takes part in a hostname spread; 0 for other limits. */
  fewestOnHosts(limit: HostLimit): number;
  /** Adds a pod counted by these counters to the planned node. */
  add(node: OpenNode, counters: readonly number[]): void;
}

/** `compiled` counts pods on existing nodes; those on planned nodes are counted here. */
export function presentNodes({ model, counters, removed }: CompiledDemand, planned: readonly OpenNode[]): PresentNodes {
  const states = new Set(planned.map(({ state }) => state));
  const domainsOf = new Map<number, Int32Array>();
  const hosts = new Map<OpenNode, Map<number, number>>();
  const onPlanned = (node: OpenNode, counter: number): number => hosts.get(node)?.get(counter) ?? 0;
  return {
    domains(counter) {
      const known = domainsOf.get(counter) ?? counters.present(counter, states);
      domainsOf.set(counter, known);
      return known;
    },
    podsOn: (place, counter) =>
      typeof place === 'number' ? counters.at(counter).hosts.on(place) : onPlanned(place, counter),
    fewestOnHosts({ counter: id, minDomains }) {
      const { spec, hosts: existing } = counters.at(id);
      if (spec.kind !== 'spread') return 0;
      let nodes = 0;
      let fewest = Number.POSITIVE_INFINITY;
      for (const node of planned) {
        const passes = counters.statePasses(id, node.state);
        if (passes === 'no') continue;
        // A node that may or may not take part must be harmless either way.
        if (passes === 'yes') nodes += 1;
        fewest = Math.min(fewest, onPlanned(node, id));
      }
      for (const row of model.existing.indexOf.values()) {
        if (fewest === 0 && nodes >= minDomains) break;
        if (removed.has(row) || !counters.nodePasses(spec.filter, row)) continue;
        nodes += 1;
        fewest = Math.min(fewest, existing.on(row));
      }
      return nodes === 0 || nodes < minDomains ? 0 : fewest;
    },
    add(node, added) {
      const own = hosts.get(node) ?? new Map<number, number>();
      hosts.set(node, own);
      for (const counter of added) own.set(counter, (own.get(counter) ?? 0) + 1);
    },
  };
}
