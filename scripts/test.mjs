// `npm test`: every static check, then the unit and integration tests. `--only=a,b` picks checks by name.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from './build.mjs';
import { root } from './setup.mjs';
import { reportersFor, summarise } from './test-report.mjs';

const checks = [
  ['types', 'tsc', '--noEmit'],
  ['page types', 'tsc', '--noEmit', '--project', 'src/dashboard/page'],
  ['lint', 'oxlint', '--type-aware', '--deny-warnings', 'src', 'test', 'bench', 'scripts'],
  ['format', 'prettier', '--check', '--log-level=warn', '.'],
  ['layers', 'depcruise', '--config', '.dependency-cruiser.json', 'src'],
  ['dead exports', 'knip', '--no-progress'],
  ['generated CRDs', 'tsx', 'scripts/generate-crds.ts', '--check'],
  ['generated docs', 'tsx', 'scripts/generate-docs.ts', '--check'],
];

const run = (command, args) =>
  spawnSync(join(root, 'node_modules', '.bin', command), args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });

await build();
const only = process.argv
  .find((argument) => argument.startsWith('--only='))
  ?.slice('--only='.length)
  .split(',');
const failed = [];
for (const [name, command, ...args] of checks) {
  if (only && !only.includes(name)) continue;
  const started = Date.now();
  const { status } = run(command, args);
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  if (status !== 0) failed.push(name);
}

const report = process.env.NODEWRIGHT_TEST_REPORT;
let status = 0;
if (!only || only.includes('tests')) {
  status = run('vitest', ['run', ...reportersFor(report)]).status ?? 1;
}
if (report) summarise(report, { passed: checks.length - failed.length, failed });
if (failed.length > 0) console.error(`Checks that failed: ${failed.join(', ')}`);
process.exit(failed.length > 0 ? 1 : status);
