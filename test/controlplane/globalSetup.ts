/** Runs once before all end-to-end tests, so that no test's time limit has to cover a build. */
import { ensureBinaries } from './binaries.ts';

export async function setup(): Promise<void> {
  await ensureBinaries((line) => console.error(line));
}
