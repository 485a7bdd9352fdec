/** Version of this build: constants from the bundler, or package.json when run from source. */
import { readFileSync } from 'node:fs';

export interface BuildInfo {
  readonly version: string;
  /** Seven characters of the git revision, if known. */
  readonly commit: string | undefined;
}

export function buildInfo(): BuildInfo {
  // The bundler replaces these exact expressions by constants.
  return {
    version: process.env.NODEWRIGHT_VERSION ?? sourceVersion(),
    commit: process.env.NODEWRIGHT_COMMIT || undefined,
  };
}

function sourceVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
