/** Names by a key that should be unique but may be temporarily shared; the name added last represents the key. */
export class NameIndex {
  private readonly names = new Map<string, Set<string>>();

  add(key: string | undefined, name: string): void {
    if (!key) return;
    const names = this.names.get(key) ?? new Set();
    names.delete(name);
    this.names.set(key, names.add(name));
  }

  remove(key: string | undefined, name: string): void {
    if (!key) return;
    const names = this.names.get(key);
    names?.delete(name);
    if (names?.size === 0) this.names.delete(key);
  }

  last(key: string | undefined): string | undefined {
    return this.all(key).at(-1);
  }

  /** In order of arrival. */
  all(key: string | undefined): readonly string[] {
    return key ? [...(this.names.get(key) ?? [])] : [];
  }
}
