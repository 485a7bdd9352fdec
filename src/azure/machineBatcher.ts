/**
 * Groups AKS machines that differ only in name, zones and tags, and creates each group with one request. A group is
 * sent when no machine has been added for a while, when it has waited long enough, or when it is full.
 */
import { createHash } from 'node:crypto';
import { RestError } from '@azure/core-rest-pipeline';
import type { Clock } from '../clock/clock.ts';
import type { AksMachineBody } from './aksMachineBody.ts';

export interface BatchEntry {
  readonly machineName: string;
  readonly zones: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
}

export interface MachineBatcherOptions {
  /** Milliseconds. */
  readonly idle: number;
  readonly max: number;
  /** Maximum machines per request. */
  readonly size: number;
  readonly clock: Clock;
  /** Creates all entries from one template; rejects when ARM refuses any. */
  readonly send: (template: unknown, entries: readonly BatchEntry[]) => Promise<void>;
}

interface Waiting extends BatchEntry {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Group {
  readonly template: unknown;
  readonly waiting: Waiting[];
}

/** AKS's limit per request, whatever the options say. */
const HARD_LIMIT = 50;
const HEADERS_TOO_LARGE = 431;

export class MachineBatcher {
  private readonly options: MachineBatcherOptions;
  private groups = new Map<string, Group>();
  private openedAt = 0;
  private cancelTimer: (() => void) | undefined;

  constructor(options: MachineBatcherOptions) {
    this.options = options;
  }

  /** Resolves when ARM has accepted the machine. */
  add(machineName: string, body: AksMachineBody): Promise<void> {
    const { template, key } = sharedTemplate(body);
    return new Promise((resolve, reject) => {
      if (this.groups.size === 0) this.openedAt = this.options.clock.now();
      const group = this.groups.get(key) ?? { template, waiting: [] };
      this.groups.set(key, group);
      group.waiting.push({ machineName, zones: body.zones, tags: body.properties.tags, resolve, reject });
      if (group.waiting.length >= Math.min(this.options.size, HARD_LIMIT)) {
        this.groups.delete(key);
        void this.fire(group);
      }
      this.schedule();
    });
  }

  private schedule(): void {
    const { clock, idle, max } = this.options;
    this.cancelTimer?.();
    if (this.groups.size === 0) return;
    const left = Math.max(0, this.openedAt + max - clock.now());
    this.cancelTimer = clock.after(Math.min(idle, left), () => this.fireAll());
  }

  private fireAll(): void {
    const groups = [...this.groups.values()];
    this.groups = new Map();
    for (const group of groups) void this.fire(group);
  }

  private async fire({ template, waiting }: Group): Promise<void> {
    const entries = waiting.map(({ machineName, zones, tags }) => ({ machineName, zones, tags }));
    let outcome: BatchOutcome;
    try {
      await this.options.send(template, entries);
      outcome = { failures: new Map() };
    } catch (error) {
      if (isTooLarge(error) && waiting.length > 1) {
        // Names, zones and tags are sent in a header, which long tags fill before the group is full.
        const half = Math.ceil(waiting.length / 2);
        void this.fire({ template, waiting: waiting.slice(0, half) });
        void this.fire({ template, waiting: waiting.slice(half) });
        return;
      }
      outcome = outcomeOf(error, entries);
    }
    for (const { machineName, resolve, reject } of waiting) {
      const failure = outcome.all ?? outcome.failures.get(machineName);
      if (failure === undefined) resolve();
      else reject(failure);
    }
  }
}

/** `BatchPutMachine`: headers are ASCII only; other characters of tags are escaped in JSON. */
export function batchHeader(entries: readonly BatchEntry[]): string {
  return JSON.stringify({ batchMachines: entries }).replace(
    /[\u007f-\uffff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function isTooLarge(error: unknown): boolean {
  return error instanceof RestError && error.statusCode === HEADERS_TOO_LARGE;
}

/** The common part of a group's machines. Ultra disks depend on the zone, so it stays in the template for them. */
function sharedTemplate({ properties, zones }: AksMachineBody): { readonly template: unknown; readonly key: string } {
  const { tags: _tags, ...rest } = properties;
  const ultra = (properties['hardware'] as { readonly ultraSsdEnabled?: boolean }).ultraSsdEnabled === true;
  const template = { properties: rest, ...(ultra ? { zones } : {}) };
  return { template, key: createHash('sha256').update(sortedJson(template)).digest('hex').slice(0, 16) };
}

/** Labels of two claims may be equal but in another order. */
function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).toSorted(([left], [right]) => (left < right ? -1 : 1)));
  });
}

interface BatchOutcome {
  /** The whole request failed. */
  readonly all?: unknown;
  readonly failures: ReadonlyMap<string, Error>;
}

interface Detail {
  readonly code?: string;
  readonly message?: string;
  readonly target?: string;
}

/** Machines not named by the error were created; an error that cannot be parsed applies to all. */
function outcomeOf(error: unknown, entries: readonly BatchEntry[]): BatchOutcome {
  const details = detailsOf(error);
  if (details === undefined) return { all: error, failures: new Map() };
  const names = new Set(entries.map(({ machineName }) => machineName));
  const failures = new Map<string, Error>();
  for (const { target, code = 'UnknownError', message = code } of details) {
    if (target === undefined || !names.has(target)) return { all: error, failures: new Map() };
    failures.set(target, new RestError(message, { code }));
  }
  return { failures };
}

function detailsOf(error: unknown): readonly Detail[] | undefined {
  const { code, message, response } = error as RestError;
  let holder: unknown;
  try {
    const body = JSON.parse(response?.bodyAsText ?? '') as { readonly error?: unknown };
    if (code === 'BatchMachineClientError') holder = body.error ?? body;
    if (code === 'BatchMachineInternalServerError') holder = JSON.parse(message);
  } catch {
    return undefined;
  }
  const { details } = (holder ?? {}) as { readonly details?: readonly Detail[] };
  return Array.isArray(details) && details.length > 0 ? details : undefined;
}
