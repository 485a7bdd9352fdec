/** The instance does not exist (any more). Ends a termination. */
export class InstanceNotFoundError extends Error {
  override readonly name = 'InstanceNotFoundError';
}

/** Nothing that the claim allows can be bought now. The claim is deleted and its pods are solved for again. */
export class InsufficientCapacityError extends Error {
  override readonly name = 'InsufficientCapacityError';
}

/** The claim's node class is missing, being deleted or not ready. The claim is deleted. */
export class NodeClassNotReadyError extends Error {
  override readonly name = 'NodeClassNotReadyError';
}

/** A launch that failed with a reason worth showing in the `Launched` condition; it is tried again. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
  readonly reason: string;

  constructor(reason: string, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}
