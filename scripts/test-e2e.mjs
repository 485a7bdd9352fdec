// `npm run test:e2e`: the tests that need a real control plane (built with Go on first use).
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { root } from './setup.mjs';

await build();
const report = process.env.NODEWRIGHT_TEST_REPORT;
const reporters = report ? ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`] : [];
const { status } = spawnSync(
  join(root, 'node_modules', '.bin', 'vitest'),
  ['run', '--config', 'vitest.e2e.config.ts', ...reporters, ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
);
if (report) {
  const counts = JSON.parse(readFileSync(report, 'utf8'));
  writeFileSync(report, JSON.stringify({ passed: counts.numPassedTests, failed: counts.numFailedTests }));
}
process.exit(status ?? 1);
