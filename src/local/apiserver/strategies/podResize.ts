/** Rules for `pods/resize`: the cpu and memory of containers may change, and nothing else. */
import { copyJson, fieldsAt, isFields, listAt, sameJson, type ApiObject, type Fields } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import { forbiddenChange, invalidValue, type FieldError } from '../status.ts';
import { qosClass } from './podQuality.ts';
import { checkPodSpec } from './podSpecValidation.ts';

const LISTS = ['containers', 'initContainers'] as const;
const RESIZABLE = ['resources', 'resizePolicy'];

export const podResize: Pick<Strategy, 'prepareUpdate' | 'validate'> = {
  /** Takes over the resources of the containers, and drops every other change of the spec. */
  prepareUpdate(draft, old) {
    const wanted = fieldsAt(draft, 'spec') ?? {};
    if (LISTS.some((list) => listAt(wanted, list).length !== listAt(old, 'spec', list).length)) return;
    const spec = copyJson(fieldsAt(old, 'spec') ?? {});
    for (const list of LISTS) {
      listAt(spec, list).forEach((container, index) => {
        const changed = listAt(wanted, list)[index];
        if (!isFields(container) || !isFields(changed)) return;
        for (const field of [...RESIZABLE, 'name']) {
          if (changed[field] === undefined) delete container[field];
          else container[field] = changed[field];
        }
      });
    }
    draft['spec'] = spec;
  },
  validate(draft, old) {
    const spec = fieldsAt(draft, 'spec') ?? {};
    const before = fieldsAt(old ?? draft, 'spec') ?? {};
    const errors = checkPodSpec(spec, 'spec').slice();
    if (qosClass(spec) !== qosClass(before)) {
      const quality = (fieldsAt(draft, 'status') ?? {})['qosClass'];
      errors.push(invalidValue('spec', quality, 'Pod QOS Class may not change as a result of resizing'));
    }
    if (old && !isSupported(old))
      errors.push(forbiddenChange('spec', 'Pod running on node without support for resize'));
    const moved = LISTS.flatMap((list) => checkOrder(list, listAt(spec, list), listAt(before, list)));
    if (moved.length > 0) return [...errors, ...moved];
    for (const list of ['initContainers', 'containers'] as const) {
      listAt(spec, list).forEach((container, index) => {
        errors.push(...checkRemoval(container, listAt(before, list)[index], `spec.${list}[${index}].resources`));
      });
    }
    for (const [index, container] of listAt(spec, 'containers').entries()) {
      if (!sameJson(withoutAmounts(container), withoutAmounts(listAt(before, 'containers')[index]))) {
        errors.push(forbiddenChange('spec', 'only cpu and memory resources are mutable'));
      }
    }
    return errors;
  },
};

/** A kubelet that knows resizes reports what its containers hold. */
function isSupported(pod: ApiObject): boolean {
  const running = listAt(pod, 'status', 'containerStatuses').find((status) => fieldsAt(status, 'state', 'running'));
  return running === undefined || fieldsAt(running, 'resources') !== undefined;
}

function checkOrder(list: string, now: readonly unknown[], before: readonly unknown[]): FieldError[] {
  if (now.length !== before.length) {
    return [forbiddenChange(`spec.${list}`, `${list} may not be added or removed on resize`)];
  }
  const nameOf = (container: unknown): unknown => (isFields(container) ? container['name'] : undefined);
  return now.flatMap((container, index) =>
    nameOf(container) === nameOf(before[index])
      ? []
      : [forbiddenChange(`spec.${list}[${index}].name`, `${list} may not be renamed or reordered on resize`)],
  );
}

function checkRemoval(container: unknown, before: unknown, path: string): FieldError[] {
  return ['requests', 'limits'].flatMap((kind) => {
    const now = fieldsAt(container as Fields, 'resources', kind) ?? {};
    const was = fieldsAt(before as Fields, 'resources', kind) ?? {};
    const isRemoved = Object.keys(was).some((name) => now[name] === undefined);
    return isRemoved ? [forbiddenChange(`${path}.${kind}`, `resource ${kind} cannot be removed`)] : [];
  });
}

function withoutAmounts(container: unknown): Fields {
  if (!isFields(container)) return {};
  const rest = (kind: string): Fields => {
    const { cpu: _cpu, memory: _memory, ...others } = fieldsAt(container, 'resources', kind) ?? {};
    return others;
  };
  const { resources: _resources, resizePolicy: _policy, ...fields } = container;
  return { ...fields, requests: rest('requests'), limits: rest('limits') };
}
