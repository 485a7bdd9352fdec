/**
 * A violated assumption of the code: a defect to report, not a mistake of the user. Names the broken part. Problems
 * that a user can cause or fix are NodewrightErrors instead.
 */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}
