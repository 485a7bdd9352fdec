/** Compares versions such as `1.36.3` and `202610.15.0` number by number. */
export function compareVersions(left: string, right: string): number {
  const [a = [], b = []] = [left, right].map((version) => version.split('.').map(Number));
  return a.map((number, index) => number - (b[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
}
