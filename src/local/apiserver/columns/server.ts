/** Tables of what the server keeps about itself, and of scales. */
import { fieldsAt, numberAt, textAt, type ApiObject } from '../fields.ts';
import type { Column } from '../resource.ts';
import { AGE, conditionOf, integer, joined, NAME, NONE, text, type Tables } from './column.ts';

function service(object: ApiObject): string {
  const found = fieldsAt(object, 'spec', 'service');
  return found === undefined ? 'Local' : joined(found, 'namespace', 'name');
}

function available(object: ApiObject): string {
  const found = conditionOf(object, 'Available');
  const status = textAt(found, 'status') ?? 'Unknown';
  const reason = textAt(found, 'reason') ?? '';
  return status === 'True' || reason === '' ? status : `${status} (${reason})`;
}

const limited = (name: string, ...path: string[]): Column =>
  text(name, (object) => String(numberAt(object, 'spec', 'limited', ...path) ?? NONE));

export const serverColumns: Tables = {
  APIService: [NAME, text('Service', service), text('Available', available), AGE],
  FlowSchema: [
    NAME,
    text('PriorityLevel', 'spec.priorityLevelConfiguration.name', NONE),
    integer('MatchingPrecedence', 'spec.matchingPrecedence'),
    text('DistinguisherMethod', 'spec.distinguisherMethod.type', NONE),
    AGE,
    text('MissingPL', (object) => textAt(conditionOf(object, 'Dangling'), 'status') ?? '?'),
  ],
  PriorityLevelConfiguration: [
    NAME,
    text('Type', 'spec.type'),
    limited('NominalConcurrencyShares', 'nominalConcurrencyShares'),
    limited('Queues', 'limitResponse', 'queuing', 'queues'),
    limited('HandSize', 'limitResponse', 'queuing', 'handSize'),
    limited('QueueLengthLimit', 'limitResponse', 'queuing', 'queueLengthLimit'),
    AGE,
  ],
};

export const scaleColumns: readonly Column[] = [
  NAME,
  integer('Desired', 'spec.replicas'),
  integer('Available', 'status.replicas'),
  AGE,
];
