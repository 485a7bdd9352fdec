/** Names of API versions. */

/** Returns the Go package in which upstream has the kinds of a group, such as `apps` or `core`. */
export function goPackage(group: string): string {
  return group === '' ? 'core' : (group.split('.')[0] ?? '');
}

/** Compares versions in the order in which clients prefer them: stable, beta, alpha, then the higher number. */
export function byPreference(left: string, right: string): number {
  const [a, b] = [rank(left), rank(right)];
  return b[0] - a[0] || b[1] - a[1] || b[2] - a[2];
}

function rank(version: string): readonly [stability: number, major: number, minor: number] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return [0, 0, 0];
  return [match[2] === undefined ? 3 : match[2] === 'beta' ? 2 : 1, Number(match[1]), Number(match[3] ?? 0)];
}
