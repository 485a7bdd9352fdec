/** Changes of a NodePool that may place an unplaced pod, for pods whose own spec can no longer change. */
import type { Pod } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { isRestrictedLabel, WELL_KNOWN_LABELS } from '../api/labels.ts';
import type { RequirementItem } from '../constraints/requirement.ts';
import { Requirements } from '../constraints/requirements.ts';
import { podRequests } from '../pods/podRequests.ts';
import { Quantity } from '../units/quantity.ts';
import { quantityOf, type Resources } from '../units/resources.ts';
import type { Edit, Refused } from './edit.ts';
import type { PoolOffer } from './problem.ts';
import type { LabelConflict, PoolRefusal, SmallestChange } from './reasons.ts';

export function poolEdits(refusals: readonly PoolRefusal[]): Edit[] {
  return refusals.flatMap((refusal): Edit[] => {
    switch (refusal.stage) {
      case 'taints':
        return [withoutTaints(refusal)];
      case 'requirements':
        return refusal.conflicts.flatMap((conflict) => labelEdits(refusal.pool, conflict));
      case 'instance-types':
      case 'offerings':
        return refusal.unmet.flatMap((conflict) => labelEdits(refusal.pool, conflict));
      case 'min-values':
        return [fewerValues(refusal)];
      case 'volumes':
        return 'keys' in refusal ? [] : zonesOfVolumes(refusal.pool, refusal.alternatives);
      case 'host-ports':
      case 'limits':
      case 'quota':
      case 'resources':
      case 'topology':
        return [];
    }
  });
}

/** Allows the cheapest type with a resource that no type of the pool has, such as GPUs. */
export function typesWithResource(pools: readonly PoolOffer[], pod: Pod, reason: Refused): Edit[] {
  const asked = podRequests(pod);
  return reason.pools.flatMap((refusal): Edit[] => {
    if (refusal.stage !== 'resources' || !('nearest' in refusal)) return [];
    const isWhole = refusal.nearest.lacks.some(
      ({ resource, amount }) =>
        isExtended(resource) && quantityOf(asked, resource).compare(Quantity.parse(amount)) <= 0,
    );
    const offer = pools.find(({ pool }) => pool.metadata.name === refusal.pool);
    if (!isWhole || offer === undefined) return [];
    const wanted = Requirements.fromItems(offer.pool.spec.template.spec.requirements);
    const [cheapest] = offer.instanceTypes
      .filter((type) => isWithin(asked, type.capacity) && !type.requirements.intersects(wanted))
      .map((type) => ({ type, price: Math.min(...type.offerings.map(({ price }) => price)) }))
      .sort((left, right) => left.price - right.price);
    return [...wanted].flatMap(({ key }) => {
      const has = cheapest?.type.requirements.find(key);
      const isInTheWay = has !== undefined && !has.complement && !has.hasIntersection(wanted.get(key));
      return isInTheWay ? [widened(refusal.pool, key, [...has.values])] : [];
    });
  });
}

/** A resource of a device plug-in, not one that every node has. */
export const isExtended = (resource: string): boolean => resource.includes('/');

const isWithin = (asked: Resources, capacity: Resources): boolean =>
  Object.keys(asked).every((resource) => quantityOf(asked, resource).compare(quantityOf(capacity, resource)) <= 0);

type Template = NodePool['spec']['template'];

function templateEdit(
  change: SmallestChange & { readonly pool: string },
  edit: (template: Template) => Template,
): Edit {
  return {
    change,
    apply: ({ pod, pools }) => ({
      pod,
      pools: pools.map((offer) => {
        const { pool } = offer;
        if (pool.metadata.name !== change.pool) return offer;
        return { ...offer, pool: { ...pool, spec: { ...pool.spec, template: edit(pool.spec.template) } } };
      }),
    }),
  };
}

function withoutTaints({ pool, taints }: PoolRefusal & { readonly stage: 'taints' }): Edit {
  const isRefused = (taint: { readonly key: string; readonly effect: string }): boolean =>
    taints.some(({ key, effect }) => key === taint.key && effect === taint.effect);
  return templateEdit({ kind: 'pool-taint', pool, taints }, (template) => ({
    ...template,
    spec: { ...template.spec, taints: (template.spec.taints ?? []).filter((taint) => !isRefused(taint)) },
  }));
}

/**
 * Adds the label to the pool's nodes if nothing has it; if the pool restricts it, allows the value or drops the
 * restriction.
 */
function labelEdits(pool: string, { key, asked, allowed }: LabelConflict): Edit[] {
  const values = asked.flatMap((item) => (item.operator === 'In' ? (item.values ?? []) : []));
  const [value] = values;
  if (allowed === undefined && !WELL_KNOWN_LABELS.has(key)) {
    const isAnyValue = asked.some(({ operator }) => operator === 'Exists');
    const given = value ?? (isAnyValue ? 'true' : undefined);
    return given === undefined || isRestrictedLabel(key) ? [] : [labelled(pool, key, given)];
  }
  const dropped = templateEdit({ kind: 'pool-requirement', pool, key }, (template) => withoutKey(template, key));
  return values.length > 0 ? [widened(pool, key, values), dropped] : [dropped];
}

/** Allows the zones that one of the volume alternatives needs. */
function zonesOfVolumes(pool: string, alternatives: readonly (readonly RequirementItem[])[]): Edit[] {
  return alternatives.flatMap((items) => items.flatMap((item) => labelEdits(pool, { key: item.key, asked: [item] })));
}

function labelled(pool: string, key: string, value: string): Edit {
  return templateEdit({ kind: 'pool-label', pool, key, value }, (template) => ({
    ...template,
    metadata: { ...template.metadata, labels: { ...template.metadata?.labels, [key]: value } },
  }));
}

/** Turns the pool's requirement on the label into a list with these values and those already listed. */
function widened(pool: string, key: string, values: readonly string[]): Edit {
  const allow: RequirementItem = { key, operator: 'In', values };
  return templateEdit({ kind: 'pool-requirement', pool, key, allow }, (template) => {
    const listed = template.spec.requirements.find((item) => item.key === key && item.operator === 'In')?.values ?? [];
    const rest = withoutKey(template, key);
    const requirement = { key, operator: 'In' as const, values: [...new Set([...listed, ...values])] };
    return { ...rest, spec: { ...rest.spec, requirements: [...rest.spec.requirements, requirement] } };
  });
}

function withoutKey(template: Template, key: string): Template {
  const { [key]: _, ...labels } = template.metadata?.labels ?? {};
  return {
    ...template,
    ...(template.metadata && { metadata: { ...template.metadata, labels } }),
    spec: { ...template.spec, requirements: template.spec.requirements.filter((item) => item.key !== key) },
  };
}

function fewerValues({ pool, key, offered }: PoolRefusal & { readonly stage: 'min-values' }): Edit {
  return templateEdit({ kind: 'min-values', pool, key, to: offered }, (template) => ({
    ...template,
    spec: {
      ...template.spec,
      requirements: template.spec.requirements.map((item) => {
        const { minValues, ...rest } = item;
        if (item.key !== key || minValues === undefined) return item;
        return offered > 0 ? { ...rest, minValues: offered } : rest;
      }),
    },
  }));
}
