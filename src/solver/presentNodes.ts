/**
 * The nodes that are there once a plan is carried out. A search counts with every domain that could be opened; the
 * scheduler compares only what it sees, so that a spread may hold that looks uneven beside domains that never open.
 */
import type { CompiledDemand } from './model/compiledDemand.ts';
import type { HostLimit } from './model/podClass.ts';
import type { OpenNode } from './placement/openNode.ts';

/** An existing node by its row, or a planned one. */
export type Place = number | OpenNode;

export interface PresentNodes {
  /** Domains that a spread compares. */
  domains(counter: number): Int32Array;
  podsOn(place: Place, counter: number): number;
  /** The least pods that a node has of those that take part in a spread over hostnames; 0 for a limit of another kind. */
  fewestOnHosts(limit: HostLimit): number;
  /** One more pod, which these counters count, is on the planned node. */
  add(node: OpenNode, counters: readonly number[]): void;
}

/** `compiled` counts what is on existing nodes, planned nodes are counted here. */
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
        // A node that may take part or not must do no harm either way.
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
