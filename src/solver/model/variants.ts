/** Rules of a pod on one rung of its ladder, in terms of counters. */
import type { Counters } from './counters.ts';
import { UNLIMITED } from './hostCounts.ts';
import type { Rung } from './ladder.ts';
import type { Model } from './model.ts';
import type { DomainConstraint, HostAffinity, HostLimit, Variant } from './podClass.ts';
import type { PodRules } from './podShape.ts';
import type { TermCounters } from './termCounters.ts';
import { isHostname } from './topologyCounter.ts';

/** The rung's rules for pods that these counters count. */
export function variantOf(
  rules: PodRules,
  rung: Rung,
  counted: readonly number[],
  counters: Counters,
  terms: TermCounters,
  model: Model,
): Variant {
  const isCounted = new Set(counted);
  const domain: DomainConstraint[] = [];
  const hostLimits: HostLimit[] = [];
  const hostAffinity: HostAffinity[] = [];
  const domainAdds = counted.filter((id) => !counters.at(id).hostname && counters.at(id).spec.kind !== 'owners');
  for (const term of rung.spread) {
    const counter = terms.spread(rules, term);
    const { maxSkew, minDomains } = term;
    if (isHostname(term.topologyKey))
      hostLimits.push({ counter, max: maxSkew, othersMax: term.required ? maxSkew : UNLIMITED, minDomains });
    else domain.push({ kind: 'spread', counter, maxSkew, minDomains, self: isCounted.has(counter), together: [] });
  }
  for (const own of [rung.affinity, ...rung.softAffinity]) {
    const together = terms.affinity(own);
    for (const counter of together) {
      const self = isCounted.has(counter);
      counters.at(counter).gathers ||= self;
      if (counters.at(counter).hostname) hostAffinity.push({ counter, self, together });
      else domain.push({ kind: 'affinity', counter, maxSkew: 0, minDomains: 0, self, together });
    }
  }
  for (const [at, term] of [...rung.antiAffinity, ...rung.softAntiAffinity].entries()) {
    const counter = terms.match(term);
    const max = isCounted.has(counter) ? 1 : 0;
    const othersMax = at < rung.antiAffinity.length ? max : UNLIMITED;
    if (isHostname(term.topologyKey)) hostLimits.push({ counter, max, othersMax, minDomains: 0 });
    else domain.push({ kind: 'anti-affinity', counter, maxSkew: 0, minDomains: 0, self: false, together: [] });
  }
  for (const term of rung.antiAffinity) {
    const owners = terms.keepAway(term);
    if (!isHostname(term.topologyKey)) domainAdds.push(owners);
  }
  for (const id of counted) {
    const { spec, hostname } = counters.at(id);
    if (spec.kind === 'owners' && !hostname) {
      domain.push({ kind: 'anti-affinity', counter: id, maxSkew: 0, minDomains: 0, self: false, together: [] });
    }
  }
  const used = [...domain.map(({ counter }) => counter), ...domainAdds];
  const pinKeys = [...new Set(used.map((id) => counters.at(id).spec.topologyKey))].sort();
  const decisive = domainAdds.flatMap((id) =>
    (counters.at(id).spec.filter?.terms ?? []).flatMap((term) => [...term.keys()]),
  );
  const doubtKeys = [...new Set(decisive)].filter((key) => !pinKeys.includes(key) && !isHostname(key)).sort();
  const requirementId = model.states.requirementId(rung.requirements);
  return {
    rung,
    requirementId,
    domain,
    hostLimits: tightest(hostLimits),
    hostAffinity,
    hasAffinity: hostAffinity.length > 0 || domain.some(({ kind }) => kind === 'affinity'),
    domainAdds: [...new Set(domainAdds)],
    pinKeys,
    doubtKeys,
  };
}

/** Every class has its own variants, because results are cached by their identity. */
export function copyOf(variant: Variant): Variant {
  const { rung, requirementId, domain, hostLimits, hostAffinity, hasAffinity, domainAdds, pinKeys, doubtKeys } =
    variant;
  return { rung, requirementId, domain, hostLimits, hostAffinity, hasAffinity, domainAdds, pinKeys, doubtKeys };
}

/** Reduces to the tightest limit per counter. */
function tightest(limits: readonly HostLimit[]): HostLimit[] {
  const byCounter = new Map<number, HostLimit>();
  for (const limit of limits) {
    const { counter, max, othersMax, minDomains } = limit;
    const known = byCounter.get(counter) ?? limit;
    byCounter.set(counter, {
      counter,
      max: Math.min(max, known.max),
      othersMax: Math.min(othersMax, known.othersMax),
      minDomains: Math.max(minDomains, known.minDomains),
    });
  }
  return [...byCounter.values()];
}
