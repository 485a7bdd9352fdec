/**
 * The log port: a sentence and structured fields. A caught error goes under the key `error`. The composition root
 * decides where lines go (JSON lines in production, nowhere in simulations).
 */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log that adds `fields` to every entry. */
  with(fields: LogFields): Log;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** Discards everything: for simulations. */
export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  error: () => {},
  with: () => silentLog,
};
