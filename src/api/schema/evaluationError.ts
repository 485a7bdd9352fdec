/** A CEL expression that cannot be evaluated for a value, with the message of Kubernetes' CEL library. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError';
}
