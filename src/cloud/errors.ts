import { NodewrightError } from '../errors/nodewrightError.ts';

interface Cause {
  readonly cause?: unknown;
}

/** The instance does not exist (any more). Ends a termination. */
export class InstanceNotFoundError extends NodewrightError<'InstanceNotFound'> {
  override readonly name = 'InstanceNotFoundError';

  constructor(instance: string, options?: Cause) {
    super('InstanceNotFound', { instance }, options);
  }
}

/** Nothing that the claim allows can be bought now. The claim is deleted and its pods are planned again. */
export class InsufficientCapacityError extends NodewrightError<'InsufficientCapacity'> {
  override readonly name = 'InsufficientCapacityError';

  constructor(detail: string, options?: Cause) {
    super('InsufficientCapacity', { detail }, options);
  }
}

/** The claim's node class is missing, being deleted or not ready. The claim is deleted. */
export class NodeClassNotReadyError extends NodewrightError<'NodeClassNotReady'> {
  override readonly name = 'NodeClassNotReadyError';

  constructor(nodeClass: string, problem: string, options?: Cause) {
    super('NodeClassNotReady', { nodeClass, problem }, options);
  }
}

/** A launch failure whose reason is shown in the `Launched` condition; the launch is retried. */
export class LaunchError extends NodewrightError<'LaunchFailed'> {
  override readonly name = 'LaunchError';

  constructor(reason: string, detail: string, options?: Cause) {
    super('LaunchFailed', { reason, detail }, options);
  }

  get reason(): string {
    return this.data.reason;
  }
}
