/** A ledger entry as one line of JSON, and back. The schema is documented in docs/ledger.md. */
import type { LedgerEntry } from './ledger.ts';
import { SCHEMA_VERSION } from './record.ts';

/** Secrets that messages of clouds may contain and that must not be stored: tokens, keys, signatures, passwords. */
const SECRETS: readonly RegExp[] = [
  /\b(bearer\s+)[\w.~+/=-]{8,}/gi,
  /\b(eyJ)[\w-]{8,}\.[\w-]+\.[\w-]*/g,
  /\b((?:sig|sv|se|code|token|access_token|refresh_token|client_secret|password|passwd|pwd|secret|accountkey|sharedaccesskey|apikey|api-key)["']?\s*[=:]\s*["']?)[^\s"'&;,]{3,}/gi,
  /(-----BEGIN [A-Z ]*PRIVATE KEY-----)[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /** Kubernetes bootstrap tokens. */
  /\b([a-z0-9]{6})\.[a-z0-9]{16}\b/g,
];

function withoutSecrets(text: string): string {
  return SECRETS.reduce((clean, pattern) => clean.replace(pattern, '$1[removed]'), text);
}

export function formatLedgerLine(entry: LedgerEntry): string {
  return JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...entry }, (_key, value: unknown) =>
    typeof value === 'string' ? withoutSecrets(value) : value,
  );
}

/** Undefined for an incomplete line, or one with an unknown schema. */
export function parseLedgerLine(line: string): LedgerEntry | undefined {
  let read: unknown;
  try {
    read = JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (typeof read !== 'object' || read === null) return undefined;
  const { schemaVersion, ...entry } = read as LedgerEntry & { readonly schemaVersion?: unknown };
  const isEntry =
    typeof entry.kind === 'string' && Number.isSafeInteger(entry.sequence) && typeof entry.time === 'number';
  return schemaVersion === SCHEMA_VERSION && isEntry ? entry : undefined;
}
