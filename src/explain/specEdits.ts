/** Changes of a pod's spec that remove parts which exclude it from every plan. */
import type { Pod } from '../api/kinds.ts';
import { DEFAULT_SCHEDULER } from '../pods/podKey.ts';
import { Labels } from '../api/labels.ts';
import { validateRequirement } from '../api/requirementValidation.ts';

type Spec = NonNullable<Pod['spec']>;
type SpecEdit = (spec: Spec) => Spec;

type NodeAffinity = NonNullable<NonNullable<Spec['affinity']>['nodeAffinity']>;
type Term = NonNullable<NodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']>['nodeSelectorTerms'][number];
type Expression = NonNullable<Term['matchExpressions']>[number];

export const withDefaultScheduler: SpecEdit = (spec) => ({ ...spec, schedulerName: DEFAULT_SCHEDULER });

export const withoutGates: SpecEdit = (spec) => {
  const { schedulingGates: _, ...rest } = spec;
  return rest;
};

/** Removes the requirement for nodes without a NodePool. */
export const optedIn: SpecEdit = (spec) =>
  withTerms(spec, ({ key, operator }) => !(key === Labels.nodePool && operator === 'DoesNotExist'), 'fields stay');

/** Removes selectors for which no node can be planned. */
export const withoutInvalid: SpecEdit = (spec) => {
  const nodeSelector = Object.fromEntries(
    Object.entries(spec.nodeSelector ?? {}).filter(([key, value]) => isValid({ key, operator: 'In', values: [value] })),
  );
  return withTerms({ ...spec, ...(spec.nodeSelector && { nodeSelector }) }, isValid, 'fields go');
};

/** Keys that `withoutInvalid` drops. */
export function invalidKeys(spec: Spec): readonly string[] {
  const selectors = Object.entries(spec.nodeSelector ?? {}).map(([key, value]) => ({
    key,
    operator: 'In',
    values: [value],
  }));
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const expressions = [...selectors, ...required.flatMap(({ matchExpressions = [] }) => matchExpressions)];
  const fields = required.flatMap(({ matchFields = [] }) => matchFields.map(({ key }) => key));
  return [...new Set([...expressions.filter((each) => !isValid(each)).map(({ key }) => key), ...fields])];
}

export const withoutResourceClaims: SpecEdit = (spec) => {
  const { resourceClaims: _, ...rest } = spec as Spec & { resourceClaims?: unknown };
  const containers = spec.containers.map((container) => {
    const { claims: __, ...resources } = (container.resources ?? {}) as Record<string, unknown>;
    return container.resources === undefined ? container : { ...container, resources };
  });
  return { ...rest, containers };
};

/** Removes anti-affinity. */
export const together: SpecEdit = (spec) => {
  const { requiredDuringSchedulingIgnoredDuringExecution: _, ...podAntiAffinity } =
    spec.affinity?.podAntiAffinity ?? {};
  return { ...spec, affinity: { ...spec.affinity, podAntiAffinity } };
};

/** Stores the claim's data in a directory of the node. */
export const withEmptyDir =
  (claim: string): SpecEdit =>
  (spec) => ({
    ...spec,
    volumes: (spec.volumes ?? []).map((volume) => {
      if (volume.persistentVolumeClaim?.claimName !== claim) return volume;
      return { name: volume.name, emptyDir: {} };
    }),
  });

export const withEphemeralClass =
  (name: string, storageClassName: string): SpecEdit =>
  (spec) => ({
    ...spec,
    volumes: (spec.volumes ?? []).map((volume) => {
      const template = volume.ephemeral?.volumeClaimTemplate;
      if (volume.name !== name || template === undefined) return volume;
      const volumeClaimTemplate = { ...template, spec: { ...template.spec, storageClassName } };
      return { ...volume, ephemeral: { ...volume.ephemeral, volumeClaimTemplate } };
    }),
  });

const isValid = ({ key, operator, values = [] }: Expression): boolean =>
  validateRequirement({ key, operator, values }, '').length === 0;

/** An empty term matches nothing: if one becomes empty, remove all terms. */
function withTerms(spec: Spec, keeps: (each: Expression) => boolean, fields: 'fields go' | 'fields stay'): Spec {
  const { nodeAffinity } = spec.affinity ?? {};
  if (nodeAffinity === undefined) return spec;
  const cleaned = (term: Term): Term => {
    const { matchFields, matchExpressions } = term;
    return {
      ...(matchExpressions && { matchExpressions: matchExpressions.filter(keeps) }),
      ...(matchFields && fields === 'fields stay' && { matchFields }),
    };
  };
  const says = ({ matchExpressions = [], matchFields = [] }: Term): boolean =>
    matchExpressions.length + matchFields.length > 0;
  const required = nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms.map(cleaned);
  const preferred = nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution
    ?.map((each) => ({ ...each, preference: cleaned(each.preference) }))
    .filter(({ preference }) => says(preference));
  const after: NodeAffinity = {
    ...(required?.every(says) && {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: required },
    }),
    ...(preferred && preferred.length > 0 && { preferredDuringSchedulingIgnoredDuringExecution: preferred }),
  };
  return { ...spec, affinity: { ...spec.affinity, nodeAffinity: after } };
}
