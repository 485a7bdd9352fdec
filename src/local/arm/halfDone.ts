/** Finishes changes that an earlier process had begun, for types that do not resume by themselves. */
import type { ArmContext } from './armContext.ts';
import { DEPLOYMENTS } from './deployments/deployments.ts';
import { textAt } from './jsonPath.ts';

const MOMENT = 1_000;
const BEGUN = new Set(['Creating', 'Updating']);

export function finishHalfDone(context: ArmContext, resumedTypes: ReadonlySet<string>): void {
  const { store, operations } = context;
  for (const resource of store.all()) {
    const { id, type, properties } = resource;
    const state = textAt(properties, 'provisioningState') ?? '';
    if (resumedTypes.has(type)) continue;
    // Its template may be deployed again; the resources that it has written stay.
    if (type === DEPLOYMENTS && state === 'Running') {
      store.put({ ...resource, properties: { ...properties, provisioningState: 'Canceled' } });
    }
    if (state === 'Deleting') operations.begin({ milliseconds: MOMENT, finish: () => store.deleteTree(id) });
    if (!BEGUN.has(state)) continue;
    const finish = (): void => {
      const current = store.find(id);
      if (current === undefined || textAt(current.properties, 'provisioningState') !== state) return;
      store.put({ ...current, properties: { ...current.properties, provisioningState: 'Succeeded' } });
    };
    operations.begin({ milliseconds: MOMENT, finish });
  }
}
