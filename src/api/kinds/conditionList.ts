/** Schema of `status.conditions`. */
import { integer, list, object, oneOf, required, string } from '../schema/builder.ts';

interface ConditionListOptions {
  /** NodeClaims have always allowed an empty reason and a missing message. */
  readonly reasonAndMessage: 'required' | 'optional';
  /** A node class has a plain list, all others one entry per type. */
  readonly uniqueTypes: boolean;
}

const lastTransitionTime = string({
  description: 'When `status` last changed its value; a new reason or message does not move it.',
  format: 'date-time',
});
const message = string({ description: 'What happened, for people. May be empty.', maxLength: 32768 });
const observedGeneration = integer({
  description: 'The `metadata.generation` that was looked at. An older number means the condition is out of date.',
  format: 'int64',
  minimum: 0,
});
const status = oneOf(['True', 'False', 'Unknown'], { description: 'Whether the condition holds.' });
const type = string({
  description: 'The name of the condition, for example `Ready`.',
  maxLength: 316,
  pattern:
    '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
});
const REASON = 'A short word for programs that says why the condition has its status.';

/** Both forms have the same type: a strict list merely guarantees more. */
export function conditionList(options: ConditionListOptions) {
  const strict = options.reasonAndMessage === 'required';
  const reason = strict
    ? string({
        description: REASON,
        minLength: 1,
        maxLength: 1024,
        pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      })
    : string({ description: REASON, maxLength: 1024, pattern: '^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?|)$' });
  const item = object(
    {
      lastTransitionTime: required(lastTransitionTime),
      message: strict ? { ...message, isRequired: true } : message,
      observedGeneration,
      reason: strict ? { ...reason, isRequired: true } : reason,
      status: required(status),
      type: required(type),
    },
    { description: 'One observation about the object.' },
  );
  return list(item, {
    description: 'What is known about the object: start with `Ready`, and read the message of whatever is not True.',
    ...(options.uniqueTypes ? { listType: { mapKeys: ['type'] } } : {}),
  });
}
