/** Which build this is: what the bundler wrote into the code, or package.json when run from source. */
import { readFileSync } from 'node:fs';

export interface BuildInfo {
  readonly version: string;
  /** Seven characters of the revision, when known. */
  readonly commit: string | undefined;
}

export function buildInfo(): BuildInfo {
  // Both are constants in a bundle: the bundler replaces these very expressions.
  return {
    version: process.env.NODEWRIGHT_VERSION ?? sourceVersion(),
    commit: process.env.NODEWRIGHT_COMMIT || undefined,
  };
}

function sourceVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
