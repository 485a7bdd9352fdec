/** A CEL expression that cannot be evaluated on a value, in the words of Kubernetes' CEL library. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError';
}
