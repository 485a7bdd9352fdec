import type { CapacityBuffer } from '../../api/kinds/capacityBuffer.ts';
import { timestamp } from '../../units/timestamp.ts';

type Conditions = NonNullable<NonNullable<CapacityBuffer['status']>['conditions']>;

export interface BufferStatement {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** The buffer's conditions with one of them set; its transition time changes only with its status. */
export function withCondition(buffer: CapacityBuffer, statement: BufferStatement, now: number): Conditions {
  const present = buffer.status?.conditions ?? [];
  const known = present.find(({ type }) => type === statement.type);
  const lastTransitionTime = known?.status === statement.status ? known.lastTransitionTime : timestamp(now);
  const said = { ...statement, lastTransitionTime, observedGeneration: buffer.metadata.generation ?? 0 };
  return [...present.filter(({ type }) => type !== statement.type), said].sort((left, right) =>
    left.type < right.type ? -1 : 1,
  );
}
