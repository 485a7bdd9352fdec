/** The whole engine with a collector: what a pass is made of can be seen there. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createEngine } from '../../src/cli/compose/engine.ts';
import { silentLog } from '../../src/kube/log.ts';
import { OtlpTracer } from '../../src/server/otlpTracer.ts';
import { TraceReceiver } from '../fixtures/engine/traceReceiver.ts';
import { Workbench } from '../fixtures/engine/workbench.ts';

let receiver: TraceReceiver;
let bench: Workbench;
let tracer: OtlpTracer | undefined;

beforeEach(async () => {
  receiver = await TraceReceiver.start();
  bench = await Workbench.start({
    engine: (ports) => {
      tracer = new OtlpTracer({ ...ports, endpoint: receiver.endpoint, version: '0.0.0', log: silentLog });
      return createEngine({ ...ports, batchIdle: 1_000, batchMax: 10_000, tracer });
    },
  });
});
afterEach(async () => {
  await bench.close();
  await receiver.stop();
});

it('shows the parts of a provisioning and of a disruption pass', async () => {
  await bench.createPool();
  await bench.createPod('p', { containers: [{ name: 'main', image: 'x', resources: { requests: { cpu: '1' } } }] });
  await bench.advance(120_000);
  await tracer?.run(AbortSignal.abort());
  const partsOf = (name: string): readonly string[] => {
    const roots = receiver.spans.filter((span) => span.name === name && span.parentSpanId === undefined);
    return receiver.spans
      .filter(({ traceId }) => roots.some((root) => root.traceId === traceId))
      .map((span) => span.name);
  };
  expect(partsOf('provisioning')).toEqual(
    expect.arrayContaining(['batch', 'catalogues', 'snapshot', 'ask', 'model advance', 'claims']),
  );
  expect(partsOf('disruption')).toEqual(expect.arrayContaining(['catalogues', 'snapshot']));
  const batch = receiver.spans.find(({ name }) => name === 'batch');
  const milliseconds = (BigInt(batch?.endTimeUnixNano ?? 0) - BigInt(batch?.startTimeUnixNano ?? 0)) / 1_000_000n;
  expect(milliseconds).toBeGreaterThanOrEqual(1_000n);
});
