/** By pool: initial state of its planned nodes without offerings that have no zone. */
import { Labels } from '../../api/labels.ts';
import { Requirement } from '../../constraints/requirement.ts';
import { Requirements } from '../../constraints/requirements.ts';
import { itemAt } from '../rows.ts';
import type { Counters } from './counters.ts';
import type { RulesGroup } from './kinds.ts';
import type { Model } from './model.ts';
import type { RunningPods } from './runningPods.ts';

/**
 * The scheduler treats "no zone" as another zone once a node is in it, and while it is empty it blocks pods that
 * spread. So no such node is planned while pods spread over zones, unless a pod is there or must go there.
 */
export function zonalBases(
  { states, pools, running }: Model,
  counters: Counters,
  groups: readonly RulesGroup[],
  removed: ReadonlySet<number>,
): readonly number[] {
  const { bases } = counters;
  const regional = new Set(pools.flatMap(({ regionalZones }) => [...regionalZones]));
  const isSpread = counters.all.some(({ spec }) => spec.kind === 'spread' && spec.topologyKey === Labels.zone);
  if (regional.size === 0 || !isSpread) return bases;
  for (const zone of regional) if (hasNodeIn(zone, running, removed)) regional.delete(zone);
  for (const { rules, rungs } of groups) {
    for (const { strict } of rungs) {
      for (const volumes of rules.volumes?.alternatives ?? [Requirements.empty]) {
        const id = states.requirementId(strict.merge(volumes));
        for (const base of bases) {
          const zones = states.valuesOf(states.narrow(base, id), Labels.zone);
          if (zones.every((zone) => regional.has(zone))) for (const zone of zones) regional.delete(zone);
        }
      }
    }
  }
  if (regional.size === 0) return bases;
  const zonal = states.requirementId(Requirements.of(Requirement.of(Labels.zone, 'NotIn', [...regional].sort())));
  return bases.map((base) => {
    const narrowed = states.narrow(base, zonal);
    return narrowed < 0 ? base : narrowed;
  });
}

function hasNodeIn(zone: string, running: RunningPods, removed: ReadonlySet<number>): boolean {
  const { values, nodesIn, domainOf } = running.domains(Labels.zone);
  const domain = values.indexOf(zone);
  if (domain < 0) return false;
  const gone = [...removed].filter((row) => domainOf[row] === domain).length;
  return itemAt(nodesIn, domain) > gone;
}
