/**
 * An assumption of the code that does not hold: a defect to report, never a mistake of a user. It says which part
 * is broken; what a user can cause or mend is a NodewrightError instead.
 */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}
