/**
 * Which writer owns which field: computes `metadata.managedFields` from the object before and after a write. Entries
 * differ in manager, operation, API version and subresource.
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
  /** `undefined` for writes through `scale`, which upstream does not date. */
  readonly time: string | undefined;
}

interface Entry extends Omit<Writer, 'operation' | 'time'> {
  readonly operation: string;
  time: string | undefined;
  set: FieldSet;
}

/** Enough for any real object; the oldest updaters are forgotten beyond it. */
const MAX_UPDATERS = 10;

const EMPTY: FieldSet = Object.freeze({});
/** Identity and bookkeeping have no owner. */
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

/** What is stored has been read before. */
function isReadable(set: unknown): set is FieldSet {
  return (set !== undefined && Object.isFrozen(set)) || isFieldSet(set);
}

function decode(object: ApiObject | undefined): Entry[] {
  return (object?.metadata.managedFields ?? []).flatMap((entry) => {
    const { manager = '', operation = 'Update', apiVersion = '', subresource = '', time, fieldsV1: set } = entry;
    if (!isReadable(set)) return [];
    return [{ manager, operation, apiVersion, subresource: subresource || undefined, time, set }];
  });
}

/** The owners that a writer gives, if they can be read; a single empty entry stands for none at all. */
export function usableOwners(entries: readonly ManagedFieldsEntry[]): ManagedFieldsEntry[] | undefined {
  const given = entries.filter((entry) => Object.keys(entry).length > 0);
  return given.every((entry) => isFieldSet(entry.fieldsV1)) ? given : undefined;
}

/**
 * Objects of one kind from one writer own the same fields, so they share one frozen set: it is most of what a small
 * object weighs. Bounded; when full it starts over.
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
    // An applier keeps its fields across API versions; updaters are told apart by version.
    (writer.operation === 'Apply' || entry.apiVersion === writer.apiVersion)
  );
}

/** Managed fields after a create, replace or patch. */
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

/** Most writes are of this kind: a writer changes again what only it owns. */
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

/** What this applier owned before, and what all others own. */
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

/** Managed fields after an apply; a Conflict error when it would change others' fields without force. */
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
  // Conflicts are listed by manager, updaters first.
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
  // An apply that changes nothing but ownership is not dated.
  const changedNothing = live !== undefined && isSame(comparison);
  const isKept = mine === undefined ? changedNothing : sameJson(mine.set, applied);
  const time = isKept ? mine?.time : writer.time;
  return encode([...others, { ...writer, time, set: applied }]);
}

/**
 * Going over from client-side to server-side apply keeps ownership: fields that still are as kubectl's last
 * configuration said have no other owner.
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
