/** Columns of what the server keeps about itself, and of the scale of things. */
import { at, fieldsAt, listAt, textAt, type ApiObject } from '../fields.ts';
import type { Column } from '../resource.ts';
import { ageColumn, count, integer, nameColumn, NONE, text } from './column.ts';

function condition(object: ApiObject, type: string): unknown {
  return listAt(object, 'status', 'conditions').find((entry) => textAt(entry, 'type') === type);
}

export const apiServiceColumns: readonly Column[] = [
  nameColumn,
  text('Service', (object) => {
    const service = fieldsAt(object, 'spec', 'service');
    return service === undefined ? 'Local' : `${textAt(service, 'namespace') ?? ''}/${textAt(service, 'name') ?? ''}`;
  }),
  text('Available', (object) => {
    const found = condition(object, 'Available');
    const status = textAt(found, 'status') ?? 'Unknown';
    const reason = textAt(found, 'reason') ?? '';
    return status === 'True' || reason === '' ? status : `${status} (${reason})`;
  }),
  ageColumn,
];

export const flowSchemaColumns: readonly Column[] = [
  nameColumn,
  text('PriorityLevel', (object) => textAt(object, 'spec', 'priorityLevelConfiguration', 'name') ?? NONE),
  integer('MatchingPrecedence', (object) => count(object, 'spec', 'matchingPrecedence')),
  text('DistinguisherMethod', (object) => textAt(object, 'spec', 'distinguisherMethod', 'type') ?? NONE),
  ageColumn,
  text('MissingPL', (object) => textAt(condition(object, 'Dangling'), 'status') ?? '?'),
];

const figureAt = (...path: string[]): Column['cell'] => {
  return (object) => {
    const value = at(object, ...path);
    return typeof value === 'number' ? String(value) : NONE;
  };
};

export const priorityLevelColumns: readonly Column[] = [
  nameColumn,
  text('Type', (object) => textAt(object, 'spec', 'type') ?? ''),
  text('NominalConcurrencyShares', figureAt('spec', 'limited', 'nominalConcurrencyShares')),
  text('Queues', figureAt('spec', 'limited', 'limitResponse', 'queuing', 'queues')),
  text('HandSize', figureAt('spec', 'limited', 'limitResponse', 'queuing', 'handSize')),
  text('QueueLengthLimit', figureAt('spec', 'limited', 'limitResponse', 'queuing', 'queueLengthLimit')),
  ageColumn,
];

export const scaleColumns: readonly Column[] = [
  nameColumn,
  integer('Desired', (object) => count(object, 'spec', 'replicas')),
  integer('Available', (object) => count(object, 'status', 'replicas')),
  ageColumn,
];
