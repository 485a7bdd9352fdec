/** Rules for `pods/resize`, which may only change the cpu and memory of containers. */
import { at, copyJson, fieldsAt, isFields, listAt, sameJson, type ApiObject, type Fields } from '../fields.ts';
import type { Strategy } from '../resource.ts';
import type { Check } from './check.ts';
import { qosClass } from './podQuality.ts';
import { checkPodSpec } from './podSpecValidation.ts';

const LISTS = ['containers', 'initContainers'] as const;
const RESIZABLE = ['resources', 'resizePolicy'];

export const podResize: Pick<Strategy, 'prepareUpdate' | 'validate'> = {
  /** Keeps only changes of the containers' resources. */
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
  validate(check, draft, old) {
    const spec = check.at('spec');
    const before = fieldsAt(old ?? draft, 'spec') ?? {};
    checkPodSpec(spec);
    if (qosClass(fieldsAt(draft, 'spec') ?? {}) !== qosClass(before)) {
      const quality = check.at('status').get('qosClass');
      check.invalid('spec', quality, 'Pod QOS Class may not change as a result of resizing');
    }
    if (old && !isSupported(old)) check.forbidden('spec', 'Pod running on node without support for resize');
    const known = check.errors.length;
    for (const list of LISTS) checkOrder(spec, list, listAt(before, list));
    if (check.errors.length > known) return;
    for (const list of ['initContainers', 'containers']) {
      spec.each(list, (container, index) => checkRemoval(container.at('resources'), listAt(before, list)[index]));
    }
    for (const [index, container] of spec.list('containers').entries()) {
      if (sameJson(withoutAmounts(container), withoutAmounts(listAt(before, 'containers')[index]))) continue;
      check.forbidden('spec', 'only cpu and memory resources are mutable');
    }
  },
};

/** Whether the kubelet supports resizes: it then reports the resources of running containers. */
function isSupported(pod: ApiObject): boolean {
  const running = listAt(pod, 'status', 'containerStatuses').find((status) => fieldsAt(status, 'state', 'running'));
  return running === undefined || fieldsAt(running, 'resources') !== undefined;
}

function checkOrder(spec: Check, list: string, before: readonly unknown[]): void {
  if (spec.list(list).length !== before.length) {
    spec.forbidden(list, `${list} may not be added or removed on resize`);
    return;
  }
  spec.each(list, (container, index) => {
    if (container.get('name') === at(before[index], 'name')) return;
    container.forbidden('name', `${list} may not be renamed or reordered on resize`);
  });
}

function checkRemoval(resources: Check, before: unknown): void {
  for (const kind of ['requests', 'limits']) {
    const was = Object.keys(fieldsAt(before, 'resources', kind) ?? {});
    if (was.every((name) => resources.at(kind).get(name) !== undefined)) continue;
    resources.forbidden(kind, `resource ${kind} cannot be removed`);
  }
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
