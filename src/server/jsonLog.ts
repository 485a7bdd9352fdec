/**
 * The production log: one JSON object per line, in the format of Karpenter's logs. When the sink fails, a second sink
 * gets one line about it.
 */
import { messageOf } from '../errors/thrown.ts';
import type { Clock } from '../clock/clock.ts';
import type { Log, LogFields } from '../kube/log.ts';
import { plainFields } from './logFields.ts';
import { LogSampler } from './logSampler.ts';
import type { LogSink } from './logSink.ts';

type LogLevel = 'debug' | 'info' | 'error';

export interface JsonLogOptions {
  readonly level: LogLevel;
  readonly sink: LogSink;
  /** Gets one line when an entry could not be written. */
  readonly failureSink: LogSink;
  readonly clock: Pick<Clock, 'now'>;
  /** Seven characters of the git revision. */
  readonly commit?: string | undefined;
  /** Texts that are never logged, such as tokens. */
  readonly secrets?: readonly string[];
}

interface SharedState extends JsonLogOptions {
  readonly sampler: LogSampler;
  /** In their JSON-escaped form. */
  readonly hidden: readonly string[];
}

const SEVERITY: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, error: 2 };
const DEFAULT_LOGGER = 'controller';
/** Hiding shorter texts would hide ordinary words. */
const SHORTEST_SECRET = 6;

export function createJsonLog(options: JsonLogOptions): Log {
  const hidden = (options.secrets ?? [])
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .map((secret) => JSON.stringify(secret).slice(1, -1));
  return new JsonLog({ ...options, sampler: new LogSampler(), hidden }, {});
}

class JsonLog implements Log {
  private readonly shared: SharedState;
  private readonly fields: LogFields;

  constructor(shared: SharedState, fields: LogFields) {
    this.shared = shared;
    this.fields = fields;
  }

  debug(message: string, fields?: LogFields): void {
    this.write('debug', message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.write('info', message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.write('error', message, fields);
  }

  with(fields: LogFields): Log {
    return new JsonLog(this.shared, { ...this.fields, ...fields });
  }

  private write(level: LogLevel, message: string, fields: LogFields | undefined): void {
    const { clock, sampler, sink, failureSink } = this.shared;
    if (SEVERITY[level] < SEVERITY[this.shared.level]) return;
    const now = clock.now();
    if (!sampler.admits(level, message, now)) return;
    try {
      sink.write(this.line(level, message, now, { ...this.fields, ...fields }));
    } catch (error) {
      // A failing log must not fail the work that logs.
      const reason = messageOf(error);
      failureSink.write(`${new Date(now).toISOString()} a log line was lost: ${reason}`);
    }
  }

  private line(level: LogLevel, message: string, now: number, fields: LogFields): string {
    const { logger = DEFAULT_LOGGER, ...others } = fields;
    const debugging = this.shared.level === 'debug';
    const caller = debugging ? callerOfLog() : undefined;
    const text = JSON.stringify({
      level: level.toUpperCase(),
      time: new Date(now).toISOString(),
      logger,
      ...(caller === undefined ? {} : { caller }),
      message,
      ...(this.shared.commit ? { commit: this.shared.commit } : {}),
      ...plainFields(others, debugging),
    });
    return this.shared.hidden.reduce((line, secret) => line.replaceAll(secret, '<hidden>'), text);
  }
}

/** `folder/file.ts:line` of the call to debug, info or error. */
function callerOfLog(): string | undefined {
  // Frames: Error, callerOfLog, line, write, debug|info|error, and then the caller.
  const frame = new Error('caller').stack?.split('\n')[5];
  return frame?.match(/([^/\\(\s]+[/\\][^/\\]+:\d+):\d+\)?$/)?.[1];
}
