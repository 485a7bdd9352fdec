// `npm run test:e2e`: the tests that need a real control plane (built with Go on first use).
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from './build.mjs';
import { root } from './setup.mjs';
import { reportersFor, summarise } from './test-report.mjs';

await build();
const report = process.env.NODEWRIGHT_TEST_REPORT;
const { status } = spawnSync(
  join(root, 'node_modules', '.bin', 'vitest'),
  ['run', '--config', 'vitest.e2e.config.ts', ...reportersFor(report), ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
);
if (report) summarise(report, { passed: 0, failed: [] });
process.exit(status ?? 1);
