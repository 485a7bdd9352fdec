/** Log fields as plain JSON: expands errors, converts big integers, maps, sets and cycles, and limits depth. */
const DEPTH_LIMIT = 8;
const CAUSE_LIMIT = 5;
const ITEM_LIMIT = 100;

/** Keys used by the entry itself; a field with such a name is renamed so that neither is lost. */
const RESERVED = new Set(['level', 'time', 'caller', 'message', 'commit']);

/**
 * An error under `key` is written as its message there, as existing dashboards expect, and its name, code, data and
 * cause under `<key>Detail`.
 */
export function plainFields(fields: Readonly<Record<string, unknown>>, withStacks: boolean): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) {
    const name = RESERVED.has(key) ? `field_${key}` : key;
    if (!(value instanceof Error)) {
      plain[name] = plainValue(value, 0, withStacks, new Set());
      continue;
    }
    plain[name] = messageChain(value);
    const detail = errorDetail(value, 0, withStacks);
    if (Object.keys(detail).some((part) => part !== 'name' && part !== 'message') || detail['name'] !== 'Error')
      plain[`${name}Detail`] = detail;
  }
  return plain;
}

/** "outer: inner", like wrapped errors in Go; a cause already quoted in the message is left out. */
function messageChain(error: Error): string {
  let text = error.message === '' ? error.name : error.message;
  let cause = error.cause;
  for (let depth = 0; depth < CAUSE_LIMIT && cause instanceof Error; depth += 1, cause = cause.cause) {
    if (!text.includes(cause.message)) text += `: ${cause.message}`;
  }
  return text;
}

function errorDetail(error: Error, depth: number, withStacks: boolean): Record<string, unknown> {
  const detail: Record<string, unknown> = { name: error.name };
  if ('code' in error) detail['code'] = plainValue(error.code, depth + 1, withStacks, new Set());
  detail['message'] = error.message;
  for (const [key, value] of Object.entries(error)) {
    if (key in detail || key === 'cause' || key === 'errors') continue;
    detail[key] = plainValue(value, depth + 1, withStacks, new Set([error]));
  }
  if (withStacks && error.stack !== undefined) detail['stack'] = error.stack;
  if (depth >= CAUSE_LIMIT) return detail;
  if (error instanceof AggregateError)
    detail['errors'] = error.errors.slice(0, ITEM_LIMIT).map((item: unknown) => causeDetail(item, depth, withStacks));
  if (error.cause !== undefined) detail['cause'] = causeDetail(error.cause, depth, withStacks);
  return detail;
}

function causeDetail(cause: unknown, depth: number, withStacks: boolean): unknown {
  return cause instanceof Error
    ? errorDetail(cause, depth + 1, withStacks)
    : plainValue(cause, depth + 1, withStacks, new Set());
}

function plainValue(value: unknown, depth: number, withStacks: boolean, ancestors: ReadonlySet<object>): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return String(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return errorDetail(value, Math.min(depth, CAUSE_LIMIT), withStacks);
  if (ancestors.has(value)) return '[circular]';
  if (depth >= DEPTH_LIMIT) return '[too deep]';
  const inside = new Set(ancestors).add(value);
  const child = (item: unknown): unknown => plainValue(item, depth + 1, withStacks, inside);
  if ('toJSON' in value && typeof value.toJSON === 'function') return child((value as { toJSON(): unknown }).toJSON());
  if (value instanceof Map)
    return plainObject(
      [...value].map(([key, item]) => [String(key), item]),
      child,
    );
  if (value instanceof Set || Array.isArray(value)) return plainList([...(value as Iterable<unknown>)], child);
  return plainObject(Object.entries(value), child);
}

function plainList(items: readonly unknown[], child: (item: unknown) => unknown): unknown[] {
  const shown = items.slice(0, ITEM_LIMIT).map(child);
  return items.length > ITEM_LIMIT ? [...shown, `… and ${items.length - ITEM_LIMIT} more`] : shown;
}

function plainObject(entries: readonly (readonly [string, unknown])[], child: (item: unknown) => unknown): object {
  const shown = entries.slice(0, ITEM_LIMIT).map(([key, item]) => [key, child(item)] as const);
  if (entries.length > ITEM_LIMIT) shown.push(['…', `and ${entries.length - ITEM_LIMIT} more`]);
  return Object.fromEntries(shown);
}
