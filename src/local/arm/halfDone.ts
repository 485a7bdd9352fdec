/** Finishes changes that an earlier process had begun, for types that do not resume by themselves. */
import type { ArmContext } from './armContext.ts';
import { textAt } from './jsonPath.ts';

const MOMENT = 1_000;
const BEGUN = new Set(['Creating', 'Updating']);

export function finishHalfDone(context: ArmContext, resumedTypes: ReadonlySet<string>): void {
  const { store, operations } = context;
  for (const { id, type, properties } of store.all()) {
    const state = textAt(properties, 'provisioningState') ?? '';
    if (resumedTypes.has(type)) continue;
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
