/**
 * Computes `metadata.managedFields`, the owners of fields, from the object before and after a write. Entries are
 * identified by manager, operation, API version and subresource.
 */
import type { ManagedFieldsEntry } from '../../../api/object.ts';
import { deepFreeze, sameJson, withoutAbsent, type ApiObject } from '../fields.ts';
import type { Shape } from '../shape.ts';
import { applyConflict, type ApplyConflict } from '../status.ts';
import { compare, type Comparison } from './compare.ts';
import { lastApplied } from './lastApplied.ts';
import { difference, fieldsOf, intersection, isEmpty, isFieldSet, pathsOf, union, type FieldSet } from './fieldSet.ts';

export interface Writer {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string | undefined;
  /** Undefined for writes through `scale`, for which upstream sets no time. */
  readonly time: string | undefined;
}

interface Entry extends Omit<Writer, 'operation' | 'time'> {
  readonly operation: string;
  time: string | undefined;
  set: FieldSet;
}

/** Upstream's limit on entries of updates; older ones are merged into one. */
const MAX_UPDATERS = 10;

const EMPTY: FieldSet = Object.freeze({});
/** Fields without owners. */
const UNOWNED: FieldSet = {
  'f:apiVersion': EMPTY,
  'f:kind': EMPTY,
  'f:metadata': {
    '.': EMPTY,
    'f:name': EMPTY,
    'f:namespace': EMPTY,
    'f:creationTimestamp': EMPTY,
    'f:selfLink': EMPTY,
    'f:uid': EMPTY,
    'f:generation': EMPTY,
    'f:managedFields': EMPTY,
    'f:resourceVersion': EMPTY,
    'f:deletionTimestamp': EMPTY,
    'f:deletionGracePeriodSeconds': EMPTY,
  },
};

export function withoutUnowned(set: FieldSet): FieldSet {
  const mentions = 'f:metadata' in set || 'f:apiVersion' in set || 'f:kind' in set;
  return mentions ? difference(set, UNOWNED) : set;
}

/** Frozen sets are those of stored objects, which are valid. */
function isValid(set: unknown): set is FieldSet {
  return (set !== undefined && Object.isFrozen(set)) || isFieldSet(set);
}

function decode(object: ApiObject | undefined): Entry[] {
  return (object?.metadata.managedFields ?? []).flatMap((entry) => {
    const { manager = '', operation = 'Update', apiVersion = '', subresource = '', time, fieldsV1: set } = entry;
    if (!isValid(set)) return [];
    return [{ manager, operation, apiVersion, subresource: subresource || undefined, time, set }];
  });
}

/** Returns the managed fields in a request, if they are valid; a single empty entry clears them. */
export function usableOwners(entries: readonly ManagedFieldsEntry[]): ManagedFieldsEntry[] | undefined {
  const given = entries.filter((entry) => Object.keys(entry).length > 0);
  return given.every((entry) => isFieldSet(entry.fieldsV1)) ? given : undefined;
}

/**
 * Cache of frozen sets by their JSON. Objects of one kind and writer have the same sets, which are most of the memory
 * of a small object. Cleared when full.
 */
const MAX_SHARED = 4096;
const sharedSets = new Map<string, FieldSet>();

function shared(set: FieldSet): FieldSet {
  if (Object.isFrozen(set)) return set;
  const text = JSON.stringify(set);
  const known = sharedSets.get(text);
  if (known !== undefined) return known;
  if (sharedSets.size >= MAX_SHARED) sharedSets.clear();
  sharedSets.set(text, deepFreeze(set));
  return set;
}

function encode(entries: readonly Entry[]): ManagedFieldsEntry[] {
  const kept = entries.filter((entry) => !isEmpty(entry.set)).sort(byAge);
  return kept.map(({ manager, operation, apiVersion, time, subresource, set }) =>
    withoutAbsent({
      manager,
      operation,
      apiVersion,
      time,
      fieldsType: 'FieldsV1',
      fieldsV1: shared(set),
      subresource,
    }),
  );
}

function byAge(left: Entry, right: Entry): number {
  const order = (entry: Entry): string =>
    [entry.operation, entry.time ?? '', entry.manager, entry.apiVersion, entry.subresource ?? ''].join('\0');
  return order(left) < order(right) ? -1 : 1;
}

function isWriter(entry: Entry, writer: Writer): boolean {
  return (
    entry.manager === writer.manager &&
    entry.operation === writer.operation &&
    entry.subresource === writer.subresource &&
    // An applier keeps its entry across API versions; updates have one per version.
    (writer.operation === 'Apply' || entry.apiVersion === writer.apiVersion)
  );
}

/** Returns the managed fields after a create, replace or patch. */
export function ownershipAfterUpdate(
  shape: Shape,
  before: ApiObject | undefined,
  after: ApiObject,
  writer: Writer,
): ManagedFieldsEntry[] {
  const comparison = strip(compare(shape, before ?? shape.zero, after));
  if (before === undefined && (after.metadata.managedFields?.length ?? 0) === 0) {
    return encode([{ ...writer, set: union(comparison.added, comparison.modified) }]);
  }
  const entries = decode(before ?? after);
  if (before !== undefined && isSame(comparison)) return before.metadata.managedFields ?? [];
  const changed = union(comparison.added, comparison.modified);
  if (before !== undefined && isEmpty(comparison.removed) && ownsAlone(entries, writer, changed)) {
    return before.metadata.managedFields ?? [];
  }
  for (const entry of entries) {
    if (isWriter(entry, writer)) continue;
    entry.set = difference(difference(entry.set, changed), comparison.removed);
  }
  let mine = entries.find((entry) => isWriter(entry, writer));
  if (mine === undefined) {
    mine = { ...writer, set: EMPTY };
    entries.push(mine);
  }
  const owned = union(difference(mine.set, comparison.removed), changed);
  if (!sameJson(owned, mine.set)) mine.time = writer.time;
  mine.set = owned;
  return encode(capped(entries, mine));
}

/** Whether the writer already owns the changed fields and no other does, as in most writes. */
function ownsAlone(entries: readonly Entry[], writer: Writer, changed: FieldSet): boolean {
  return (
    entries.some((entry) => isWriter(entry, writer) && isEmpty(difference(changed, entry.set))) &&
    entries.every((entry) => isWriter(entry, writer) || isEmpty(intersection(entry.set, changed)))
  );
}

function capped(entries: readonly Entry[], newest: Entry): readonly Entry[] {
  const updaters = entries.filter((entry) => entry.operation === 'Update' && !isEmpty(entry.set));
  if (updaters.length <= MAX_UPDATERS) return entries;
  const surplus = new Set(
    updaters
      .filter((entry) => entry !== newest)
      .sort(byAge)
      .slice(0, updaters.length - MAX_UPDATERS),
  );
  const merged: Entry = {
    manager: 'ancient-changes',
    operation: 'Update',
    apiVersion: newest.apiVersion,
    subresource: undefined,
    time: newest.time,
    set: [...surplus].reduce((set, entry) => union(set, entry.set), EMPTY),
  };
  return [...entries.filter((entry) => !surplus.has(entry)), merged];
}

function strip({ added, modified, removed }: Comparison): Comparison {
  return { added: withoutUnowned(added), modified: withoutUnowned(modified), removed: withoutUnowned(removed) };
}

function isSame(comparison: Comparison): boolean {
  return isEmpty(comparison.added) && isEmpty(comparison.modified) && isEmpty(comparison.removed);
}

/** Returns the fields that the applier owned before, and those of all others. */
export function ownersBeforeApply(
  live: ApiObject | undefined,
  writer: Writer,
): { readonly mine: FieldSet; readonly others: FieldSet } {
  const entries = decode(live);
  return {
    mine: entries.find((entry) => isWriter(entry, writer))?.set ?? EMPTY,
    others: entries.filter((entry) => !isWriter(entry, writer)).reduce((set, entry) => union(set, entry.set), EMPTY),
  };
}

/** Returns the managed fields after an apply; throws Conflict if it changes fields of others without `force`. */
export function ownershipAfterApply(
  shape: Shape,
  live: ApiObject | undefined,
  applied: FieldSet,
  merged: ApiObject,
  writer: Writer,
  force: boolean,
): ManagedFieldsEntry[] {
  const comparison = strip(compare(shape, live ?? shape.zero, merged));
  const changed = union(comparison.added, comparison.modified);
  const entries = decode(live);
  const conflicts: ApplyConflict[] = [];
  let conceded: FieldSet | undefined;
  // Entries of updates come after those of applies, then by time and manager; conflicts are listed in this order.
  for (const entry of entries) {
    if (isWriter(entry, writer)) continue;
    const disputed = intersection(entry.set, changed);
    if (!isEmpty(disputed)) {
      const refused = force ? EMPTY : difference(disputed, (conceded ??= concededFields(shape, live, writer)));
      for (const field of pathsOf(refused)) conflicts.push({ manager: describeManager(entry), field });
      entry.set = difference(entry.set, disputed);
    }
    entry.set = difference(entry.set, comparison.removed);
  }
  if (conflicts.length > 0) throw applyConflict(conflicts);
  const mine = entries.find((entry) => isWriter(entry, writer));
  const others = entries.filter((entry) => entry !== mine);
  // An apply that changes only ownership sets no time.
  const changedNothing = live !== undefined && isSame(comparison);
  const isKept = mine === undefined ? changedNothing : sameJson(mine.set, applied);
  const time = isKept ? mine?.time : writer.time;
  return encode([...others, { ...writer, time, set: applied }]);
}

/**
 * Returns the fields that still have the values of kubectl's last client-side configuration. They cause no conflicts,
 * so that kubectl can change to server-side apply.
 */
function concededFields(shape: Shape, live: ApiObject | undefined, writer: Writer): FieldSet {
  const last = live && lastApplied(live, writer.manager);
  if (last === undefined || last['apiVersion'] !== writer.apiVersion) return EMPTY;
  const { added, modified, removed } = compare(shape, last, live ?? {});
  return difference(fieldsOf(shape, last, true), union(union(added, modified), removed));
}

function describeManager(entry: Entry): string {
  const name = JSON.stringify(entry.manager);
  const subresource = entry.subresource === undefined ? '' : ` with subresource ${JSON.stringify(entry.subresource)}`;
  return entry.operation === 'Apply' ? `${name}${subresource}` : `${name}${subresource} using ${entry.apiVersion}`;
}
