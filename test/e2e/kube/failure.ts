/** What a promise that must reject fails with. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`Expected a failure, but got ${JSON.stringify(value)}`);
}
