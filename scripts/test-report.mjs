// What `.ci/run` adds up: one suite's counts, and each failure by name with the first lines of why.
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { root } from './setup.mjs';

const LINES_PER_FAILURE = 40;

const excerpt = (text) => text.split('\n').slice(0, LINES_PER_FAILURE).join('\n');

/** The reporters to hand to vitest, which writes its own JSON where `report` says (if it does). */
export const reportersFor = (report) =>
  report ? ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`] : [];

/** Replaces vitest's JSON with ours: `{ passed, failed, failures }`, static checks included. */
export const summarise = (report, checks) => {
  const results = JSON.parse(readFileSync(report, 'utf8'));
  const failures = checks.failed.map((name) => ({ name: `check: ${name}`, why: '' }));
  let deadFiles = 0;
  for (const file of results.testResults) {
    const path = relative(root, file.name);
    for (const test of file.assertionResults)
      if (test.status === 'failed')
        failures.push({ name: `${path}: ${test.fullName}`, why: excerpt(test.failureMessages.join('\n')) });
    // A file that could not be loaded, or whose hooks failed, may have no failed test of its own.
    if (file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed')) {
      deadFiles++;
      failures.push({ name: path, why: excerpt(file.message ?? '') });
    }
  }
  writeFileSync(
    report,
    JSON.stringify({
      passed: results.numPassedTests + checks.passed,
      failed: results.numFailedTests + deadFiles + checks.failed.length,
      failures,
    }),
  );
};
