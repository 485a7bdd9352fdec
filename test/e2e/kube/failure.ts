/** What a promise fails with. In: a promise that must reject. Out: its reason. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`Expected a failure, but got ${JSON.stringify(value)}`);
}
