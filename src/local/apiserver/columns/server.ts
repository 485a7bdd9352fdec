/** Cells of what the server keeps about itself, and the table of scales. */
import { fieldsAt, textAt } from '../fields.ts';
import type { Column } from '../resource.ts';
import { columnOf, conditionOf, joined, type Cells } from './column.ts';

export const serverCells: Cells = {
  apiService: (object) => {
    const found = fieldsAt(object, 'spec', 'service');
    return found === undefined ? 'Local' : joined(found, 'namespace', 'name');
  },
  available: (object) => {
    const found = conditionOf(object, 'Available');
    const status = textAt(found, 'status') ?? 'Unknown';
    const reason = textAt(found, 'reason') ?? '';
    return status === 'True' || reason === '' ? status : `${status} (${reason})`;
  },
};

export const scaleColumns: readonly Column[] = [
  'Name',
  ['Desired', 'integer', 'spec.replicas'],
  ['Available', 'integer', 'status.replicas'],
  'Age',
].map((row) => columnOf(row, {}));
