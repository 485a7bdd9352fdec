/** Hash of the tags and identities that a running instance should have, to detect changes. */
export interface InPlaceState {
  /** Resource ids of identities; only for VMs. */
  readonly identities?: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
}

/** FNV-1a of the state as JSON with sorted keys, as a decimal number. Empty members are left out. */
export function inPlaceHash({ identities = [], tags }: InPlaceState): string {
  const state = {
    ...(identities.length === 0 ? {} : { identities: sorted(Object.fromEntries(identities.map((id) => [id, {}]))) }),
    ...(Object.keys(tags).length === 0 ? {} : { tags: sorted(tags) }),
  };
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(escaped(JSON.stringify(state)))) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return String(hash);
}

/** Sorted by bytes, not by code units, to match Karpenter's hashes when a cluster is taken over. */
function sorted<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  const entries = Object.entries(record);
  return Object.fromEntries(
    entries.toSorted(([left], [right]) => Buffer.compare(Buffer.from(left), Buffer.from(right))),
  );
}

/** Characters that Go's JSON encoder escapes. */
function escaped(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
