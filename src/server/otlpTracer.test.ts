import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RecordedMetrics } from '../../test/fixtures/engine/recordedMetrics.ts';
import { TraceReceiver } from '../../test/fixtures/engine/traceReceiver.ts';
import { SeededRandom } from '../clock/seededRandom.ts';
import { VirtualClock } from '../clock/virtualClock.ts';
import type { Log } from '../kube/log.ts';
import { silentLog } from '../kube/log.ts';
import { traced } from '../kube/trace.ts';
import { OtlpTracer } from './otlpTracer.ts';

const START = Date.UTC(2026, 0, 1);
const DROPPED = 'nodewright_traces_dropped_spans_total';
const EXPORTED = 'nodewright_traces_exported_spans_total';

let receiver: TraceReceiver;
let clock: VirtualClock;
let metrics: RecordedMetrics;
let tracer: OtlpTracer;
let complaints: string[];

beforeEach(async () => {
  receiver = await TraceReceiver.start();
  clock = new VirtualClock(START);
  metrics = new RecordedMetrics();
  complaints = [];
  tracer = tracerTo(receiver.endpoint);
});
afterEach(() => receiver.stop());

function tracerTo(endpoint: string): OtlpTracer {
  const log: Log = { ...silentLog, error: (message) => complaints.push(message) };
  return new OtlpTracer({ endpoint, version: '1.2.3', clock, random: new SeededRandom(1), metrics, log });
}

/** Sends everything, as at the end of the process. */
const finish = (): Promise<void> => tracer.run(AbortSignal.abort());

describe('traces', () => {
  it('are sent as OTLP in JSON: ids, times, attributes and failures', async () => {
    const pass = tracer.begin('provisioning', START - 1_000);
    const part = pass.child('ask');
    await clock.advance(25);
    part.end({ pods: 3, share: 0.5, full: true, pool: 'default' });
    await expect(traced(pass, () => Promise.reject(new Error('no room')))).rejects.toThrow('no room');
    await finish();
    const [ask, provisioning] = receiver.spans;
    expect(receiver.requests).toEqual(['POST /v1/traces application/json']);
    expect(receiver.resource).toEqual([
      { key: 'service.name', value: { stringValue: 'nodewright' } },
      { key: 'service.version', value: { stringValue: '1.2.3' } },
    ]);
    expect(provisioning?.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(provisioning?.spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(provisioning).toMatchObject({ name: 'provisioning', status: { code: 2, message: 'no room' } });
    expect(provisioning?.parentSpanId).toBeUndefined();
    expect(ask).toMatchObject({ traceId: provisioning?.traceId, parentSpanId: provisioning?.spanId });
    expect(provisioning?.startTimeUnixNano).toBe(`${START - 1_000}000000`);
    expect(ask?.startTimeUnixNano).toBe(`${START}000000`);
    expect(ask?.endTimeUnixNano).toBe(`${START + 25}000000`);
    expect(ask?.attributes).toEqual([
      { key: 'pods', value: { intValue: '3' } },
      { key: 'share', value: { doubleValue: 0.5 } },
      { key: 'full', value: { boolValue: true } },
      { key: 'pool', value: { stringValue: 'default' } },
    ]);
    expect(metrics.value(EXPORTED)).toBe(2);
  });

  it('are sent periodically, and again after a collector was busy', async () => {
    const end = new AbortController();
    const running = tracer.run(end.signal);
    receiver.answers.push(503);
    tracer.begin('one').end();
    await clock.advance(4_900);
    expect(receiver.requests).toEqual([]);
    await clock.advance(1_200);
    expect([receiver.requests.length, receiver.spans.map(({ name }) => name)]).toEqual([2, ['one']]);
    end.abort();
    await running;
    expect(metrics.value(DROPPED, { reason: 'export' })).toBeUndefined();
  });

  it.each([
    ['refuses', 400],
    ['is broken', 500],
    ['never answers', 'silence'],
  ] as const)('are dropped and counted when the collector %s', async (_, answer) => {
    receiver.answers.push(answer);
    for (const name of ['one', 'two']) tracer.begin(name).end();
    await finish();
    expect(metrics.value(DROPPED, { reason: 'export' })).toBe(2);
    tracer.begin('three').end();
    await finish();
    expect(receiver.spans.map(({ name }) => name)).toEqual(['three']);
    expect(complaints).toHaveLength(1);
  });

  it('are dropped and counted when there is no collector', async () => {
    await receiver.stop();
    tracer.begin('one').end();
    await finish();
    expect(metrics.value(DROPPED, { reason: 'export' })).toBe(1);
    receiver = await TraceReceiver.start();
  });

  it('wait in a bounded queue, and each trace has a limited number of spans', async () => {
    for (let at = 0; at < 5_000; at++) tracer.begin('one').end();
    const pass = tracer.begin('large');
    for (let at = 0; at < 300; at++) pass.child('part').child('of a part');
    await finish();
    expect(receiver.spans).toHaveLength(4_096);
    expect(metrics.value(DROPPED, { reason: 'queue' })).toBe(904);
    // The first is the trace itself; each part took two of those that were left while there were any.
    expect(metrics.value(DROPPED, { reason: 'trace' })).toBeGreaterThan(150);
  });
});
