import { describe, expect, it } from 'vitest';
import { PrometheusMetrics } from './metrics.ts';

function create() {
  return new PrometheusMetrics({ build: { version: '1.2.3', commit: 'abc1234' } });
}

async function linesOf(metrics: PrometheusMetrics, prefix: string): Promise<string[]> {
  return (await metrics.render()).split('\n').filter((line) => line.startsWith(prefix));
}

describe('metrics', () => {
  it('counts', async () => {
    const metrics = create();
    const counter = metrics.counter({ name: 'karpenter_things_total', help: 'Things.', labels: ['kind'] });
    counter.inc({ kind: 'a' });
    counter.inc({ kind: 'a' }, 2.5);
    counter.inc({ kind: 'b' });
    metrics.counter({ name: 'karpenter_bare_total', help: 'Without labels.' }).inc();
    expect(await linesOf(metrics, 'karpenter_things_total')).toEqual([
      'karpenter_things_total{kind="a"} 3.5',
      'karpenter_things_total{kind="b"} 1',
    ]);
    expect(await linesOf(metrics, 'karpenter_bare_total')).toEqual(['karpenter_bare_total 1']);
  });

  it('sets and deletes gauges', async () => {
    const metrics = create();
    const gauge = metrics.gauge({ name: 'karpenter_level', help: 'A level.', labels: ['node'] });
    gauge.set({ node: 'a' }, 1);
    gauge.set({ node: 'b' }, 2);
    gauge.delete({ node: 'a' });
    expect(await linesOf(metrics, 'karpenter_level')).toEqual(['karpenter_level{node="b"} 2']);
  });

  it('observes into the given buckets', async () => {
    const metrics = create();
    const histogram = metrics.histogram({
      name: 'karpenter_wait_seconds',
      help: 'Waits.',
      buckets: [1, 2],
      labels: ['x'],
    });
    histogram.observe({ x: 'y' }, 1.5);
    expect(await linesOf(metrics, 'karpenter_wait_seconds')).toEqual([
      'karpenter_wait_seconds_bucket{le="1",x="y"} 0',
      'karpenter_wait_seconds_bucket{le="2",x="y"} 1',
      'karpenter_wait_seconds_bucket{le="+Inf",x="y"} 1',
      'karpenter_wait_seconds_sum{x="y"} 1.5',
      'karpenter_wait_seconds_count{x="y"} 1',
    ]);
  });

  it('gives the same metric for the same name, and refuses another shape', async () => {
    const metrics = create();
    const options = { name: 'karpenter_same_total', help: 'Same.', labels: ['a', 'b'] };
    metrics.counter(options).inc({ a: '1', b: '2' });
    metrics.counter({ ...options, labels: ['b', 'a'] }).inc({ a: '1', b: '2' });
    expect(await linesOf(metrics, 'karpenter_same_total')).toEqual(['karpenter_same_total{a="1",b="2"} 2']);
    expect(() => metrics.counter({ ...options, labels: ['a'] })).toThrow(
      'the metric karpenter_same_total exists as a counter with labels [a,b], not as a counter with [a]',
    );
    expect(() => metrics.gauge(options)).toThrow('not as a gauge with [a,b]');
  });

  it('describes the build and the process under the names that Go clients use', async () => {
    const text = await create().render();
    expect(text).toMatch(
      /^karpenter_build_info\{version="1\.2\.3",goversion="v\d+\.[^"]+",goarch="\w+",commit="abc1234"\} 1$/m,
    );
    for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'process_start_time_seconds'])
      expect(text).toMatch(new RegExp(`^${name} [\\d.e+]+$`, 'm'));
  });
});

describe('gauges', () => {
  it('show elapsed time as of the scrape', async () => {
    let now = 10_000;
    const metrics = new PrometheusMetrics({ build: { version: '1' }, now: () => now });
    const gauge = metrics.gauge({ name: 'karpenter_age_seconds', help: 'Age.', labels: ['node'] });
    gauge.setSince({ node: 'a' }, 4_000);
    gauge.setSince({ node: 'b' }, 20_000);
    expect(await linesOf(metrics, 'karpenter_age')).toEqual([
      'karpenter_age_seconds{node="a"} 6',
      'karpenter_age_seconds{node="b"} 0',
    ]);
    now = 12_500;
    gauge.delete({ node: 'b' });
    expect(await linesOf(metrics, 'karpenter_age')).toEqual(['karpenter_age_seconds{node="a"} 8.5']);
    gauge.set({ node: 'a' }, Number.NaN);
    expect(await linesOf(metrics, 'karpenter_age')).toEqual(['karpenter_age_seconds{node="a"} NaN']);
  });

  it('escape labels, and refuse undeclared ones', async () => {
    const metrics = create();
    const gauge = metrics.gauge({ name: 'karpenter_odd', help: 'One\\two\nthree.', labels: ['b', 'a'] });
    gauge.set({ a: 'say "hi"\n', b: 'c:\\' }, 1e21);
    gauge.set({ a: 'only' }, Number.POSITIVE_INFINITY);
    gauge.set({}, -0.5);
    expect(await linesOf(metrics, 'karpenter_odd')).toEqual([
      'karpenter_odd{b="c:\\\\",a="say \\"hi\\"\\n"} 1e+21',
      'karpenter_odd{a="only"} +Inf',
      'karpenter_odd -0.5',
    ]);
    expect(await linesOf(metrics, '# HELP karpenter_odd')).toEqual(['# HELP karpenter_odd One\\\\two\\nthree.']);
    expect(await linesOf(metrics, '# TYPE karpenter_odd')).toEqual(['# TYPE karpenter_odd gauge']);
    expect(() => gauge.set({ c: '1' }, 1)).toThrow('karpenter_odd has no label c');
  });

  it('are rendered in parts that together are the whole', async () => {
    const metrics = create();
    const gauge = metrics.gauge({ name: 'karpenter_many', help: 'Many.', labels: ['number'] });
    for (let number = 0; number < 20_000; number++) gauge.set({ number: String(number) }, number);
    const parts: string[] = [];
    for await (const part of metrics.parts()) parts.push(part);
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.join('').match(/^karpenter_many\{/gm)).toHaveLength(20_000);
  });
});
