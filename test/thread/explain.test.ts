import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { applyFix, explainPodOf } from '../../src/cli/compose/explainCluster.ts';
import { createEngine } from '../../src/cli/compose/engine.ts';
import type { Explanation } from '../../src/ledger/explanation.ts';
import { Workbench } from '../fixtures/engine/workbench.ts';

/** Milliseconds. */
const MINUTE = 60_000;

describe('explain pod, on a cluster with a running controller', () => {
  let bench: Workbench;
  beforeEach(async () => {
    bench = await Workbench.start({
      engine: (ports) => createEngine({ ...ports, batchIdle: 1_000, batchMax: 10_000 }),
    });
    await bench.createPool();
  });
  afterEach(() => bench.close());

  const explain = (name: string): Promise<Explanation> =>
    explainPodOf({ kube: bench.kube, namespace: 'default' }, { name, namespace: 'default' }, { region: 'eastus' });

  async function deploy(name: string, spec: object): Promise<string> {
    const labels = { app: name };
    const containers = [{ name: 'main', image: 'app', resources: { requests: { cpu: '500m' } } }];
    await bench.kube.create(Kinds.Deployment, {
      metadata: { name, namespace: 'default' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers, ...spec } } },
    });
    await bench.advance(MINUTE);
    const [pod] = await bench.pods();
    return pod?.metadata.name ?? '';
  }

  it('names the constraint, and its fix lets the workload run', async () => {
    const name = await deploy('web', { nodeSelector: { team: 'blue' } });
    const explanation = await explain(name);
    expect(explanation).toMatchObject({
      object: { kind: 'Pod', namespace: 'default', name },
      constraint: 'requirements',
    });
    expect(explanation.sentence).toContain('label "team" does not have known values');
    const [fix] = explanation.fixes;
    expect(fix?.patches).toHaveLength(1);
    if (fix) await applyFix(bench.kube, fix);
    await bench.advance(5 * MINUTE);
    const running = (await bench.pods()).filter(({ status }) => status?.phase === 'Running');
    expect(running).toHaveLength(1);
    const [pod] = running;
    expect((await explain(pod?.metadata.name ?? '')).constraint).toBe('bound');
  });

  it('writes nothing, and says so when the pod is not there', async () => {
    await expect(explain('nothing')).rejects.toMatchObject({ code: 'ObjectNotFound' });
  });
});
