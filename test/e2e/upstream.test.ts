import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRig, type Rig } from '../upstream/rig.ts';
import { runSpec } from '../upstream/runSpec.ts';
import { listSpecs, type Spec } from '../upstream/spec.ts';
import { ensureSuite } from '../upstream/suiteBinary.ts';

/** From every area that passes, what takes seconds; `npm run test:upstream` runs them all. */
const QUICK = [
  'Integration Validation NodePool should error when a restricted label is used in labels (karpenter.sh/nodepool)',
  'Integration Validation NodePool should error when minValues for a requirement key is negative',
  'Integration DaemonSet should account for LimitRange Default on daemonSet pods for resources',
  'Integration DaemonSet should correctly account for host ports of uncached daemonset pods targeting different instance types',
  'NodeClaim StandaloneNodeClaim should create a NodeClaim propagating all the NodeClaim spec details',
  'NodeClaim StandaloneNodeClaim should delete a NodeClaim from the node termination finalizer',
  "NodeClaim StandaloneNodeClaim should delete a NodeClaim if it references a NodeClass that isn't Ready",
  'Termination should terminate the node and the instance on deletion',
  'StaticCapacity Provisioning should create static NodeClaim propagating all the NodePool spec details',
  'CapacityBuffer Anti-Affinity should respect pod anti-affinity between virtual buffer pods',
  "Drift should update the nodepool-hash annotation on the nodepool and nodeclaim when the nodepool's nodepool-hash-version annotation does not match the controller hash version",
  'Performance Provisioning should do simple provisioning',
];
const NODEWRIGHT = join(import.meta.dirname, '../../dist/nodewright.js');
const BUILD_LIMIT = 30 * 60_000;
const SPEC_LIMIT = 5 * 60_000;

describe("a dozen of Karpenter's own regression specs", () => {
  let directory: string;
  let program: string;
  let specs: readonly Spec[];
  let rig: Rig | undefined;

  beforeAll(async () => {
    program = await ensureSuite((line) => console.error(line));
    specs = await listSpecs(program);
    directory = await mkdtemp(join(tmpdir(), 'nodewright-upstream-'));
  }, BUILD_LIMIT);

  /** What a spec leaves behind when it fails would fail the next. */
  async function discardRig(): Promise<void> {
    await rig?.stop();
    rig = undefined;
  }

  afterAll(async () => {
    await discardRig();
    if (directory) await rm(directory, { recursive: true });
  });

  it.each(QUICK)(
    '%s',
    async (name) => {
      const spec = specs.find((candidate) => candidate.name === name);
      if (!spec) throw new Error('The suite has no spec of this name.');
      rig ??= await startRig({ nodewright: NODEWRIGHT, logDirectory: directory });
      const outcome = await runSpec({ program, rig, spec, directory, limitMilliseconds: SPEC_LIMIT });
      if (!outcome.passed) await discardRig();
      const log = outcome.passed ? '' : (await readFile(join(directory, 'run.log'), 'utf8')).slice(-10_000);
      expect({ ...outcome, log }).toMatchObject({ passed: true });
    },
    SPEC_LIMIT + 2 * 60_000,
  );
});
