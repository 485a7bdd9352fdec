import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const CONTROLLERS = join(import.meta.dirname, '../../src/controllers');
const files = readdirSync(CONTROLLERS, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
);
const filesWith = (pattern: RegExp): readonly string[] =>
  files.filter((file) => pattern.test(readFileSync(join(CONTROLLERS, file), 'utf8'))).sort();

it('opens watches of claims, nodes and pods only to keep the cluster', () => {
  expect(filesWith(/informers\.of\(\s*Kinds\.(NodeClaim|Node|Pod)\b/)).toEqual(['world/clusterInformers.ts']);
});

it('reads claims, nodes and pods from the cluster; from the API server only after a write was refused', () => {
  expect(filesWith(/\bkube\.list\(/)).toEqual(['world/writeThroughKube.ts']);
  expect(filesWith(/\bkube\.get\(\s*Kinds\.(NodeClaim|Node|Pod)\b/)).toEqual([
    'disruption-queue/marks.ts',
    'nodeclaim-lifecycle/registration.ts',
    'placement-hints/controller.ts',
  ]);
});

it('deletes claims in one way', () => {
  expect(filesWith(/\.delete\(\s*Kinds\.NodeClaim\b/)).toEqual(['claims/deleteClaim.ts']);
});
