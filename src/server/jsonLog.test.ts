import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createJsonLog } from './jsonLog.ts';
import type { JsonLogOptions } from './jsonLog.ts';
import { openLogSink } from './logSink.ts';

function recorder(options: Partial<JsonLogOptions> = {}) {
  const lines: string[] = [];
  const failures: string[] = [];
  let now = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
  const log = createJsonLog({
    level: 'info',
    sink: { write: (line) => void lines.push(line), close: () => undefined },
    failureSink: { write: (line) => void failures.push(line), close: () => undefined },
    clock: { now: () => now },
    ...options,
  });
  return { log, lines, failures, advance: (milliseconds: number) => void (now += milliseconds) };
}

class QuotaError extends Error {
  readonly code = 'QuotaExceeded';
  readonly family = 'Dsv5';
  override name = 'QuotaError';
}

describe('the shape of a line', () => {
  it('has the keys of upstream, in their order', () => {
    const { log, lines } = recorder({ commit: '490ef94' });
    log.with({ controller: 'provisioner', NodePool: { name: 'default' } }).info('found provisionable pod(s)', {
      Pods: 'default/web',
      count: 3,
    });
    expect(lines).toEqual([
      '{"level":"INFO","time":"2026-01-02T03:04:05.006Z","logger":"controller","message":"found provisionable pod(s)","commit":"490ef94","controller":"provisioner","NodePool":{"name":"default"},"Pods":"default/web","count":3}',
    ]);
  });

  it('leaves out a commit that is not known, and takes another logger name', () => {
    const { log, lines } = recorder();
    log.with({ logger: 'azure' }).error('failed');
    expect(lines).toEqual(['{"level":"ERROR","time":"2026-01-02T03:04:05.006Z","logger":"azure","message":"failed"}']);
  });

  it('names the caller at level debug only', () => {
    const { log, lines } = recorder({ level: 'debug' });
    log.debug('a');
    log.with({}).info('b');
    const callers = lines.map((line) => (JSON.parse(line) as { caller: string }).caller);
    expect(callers[0]).toMatch(/^server\/jsonLog\.test\.ts:\d+$/);
    expect(callers[1]).toMatch(/^server\/jsonLog\.test\.ts:\d+$/);
  });

  it.each([
    ['debug', ['DEBUG', 'INFO', 'ERROR']],
    ['info', ['INFO', 'ERROR']],
    ['error', ['ERROR']],
  ] as const)('drops what is below level %s', (level, expected) => {
    const { log, lines } = recorder({ level });
    log.debug('x');
    log.info('x');
    log.error('x');
    expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(expected);
  });
});

describe('fields', () => {
  function fieldsOf(fields: Record<string, unknown>): unknown {
    const { log, lines } = recorder();
    log.error('m', fields);
    const { level, time, logger, message, ...others } = JSON.parse(lines[0] ?? '{}') as Record<string, unknown>;
    expect([level, time, logger, message]).toEqual(['ERROR', '2026-01-02T03:04:05.006Z', 'controller', 'm']);
    return others;
  }

  it('unfolds errors with their code, data and cause', () => {
    const error = new QuotaError('no quota is left', { cause: new Error('HTTP 409') });
    expect(fieldsOf({ error: new Error('creating the instance', { cause: error }) })).toEqual({
      error: 'creating the instance: no quota is left: HTTP 409',
      errorDetail: {
        name: 'Error',
        message: 'creating the instance',
        cause: {
          name: 'QuotaError',
          code: 'QuotaExceeded',
          message: 'no quota is left',
          family: 'Dsv5',
          cause: { name: 'Error', message: 'HTTP 409' },
        },
      },
    });
  });

  it('keeps a plain error short', () => {
    expect(fieldsOf({ error: new Error('plain') })).toEqual({ error: 'plain' });
  });

  it('lists the errors of an aggregate', () => {
    expect(fieldsOf({ error: new AggregateError([new Error('a'), 'b'], 'both failed') })).toEqual({
      error: 'both failed',
      errorDetail: { name: 'AggregateError', message: 'both failed', errors: [{ name: 'Error', message: 'a' }, 'b'] },
    });
  });

  it('ends on errors that cause themselves', () => {
    const error = new Error('loop');
    error.cause = error;
    expect(JSON.stringify(fieldsOf({ error }))).toContain('"error":"loop"');
  });

  it('serialises what JSON cannot', () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    expect(
      fieldsOf({
        big: 12n,
        infinite: Number.POSITIVE_INFINITY,
        map: new Map([['a', new Set([1])]]),
        cycle,
        time: 'mine',
        date: new Date(0),
        many: Array.from({ length: 102 }, () => 0),
      }),
    ).toEqual({
      big: '12',
      infinite: 'Infinity',
      map: { a: [1] },
      cycle: { self: '[circular]' },
      field_time: 'mine',
      date: '1970-01-01T00:00:00.000Z',
      many: [...Array.from({ length: 100 }, () => 0), '… and 2 more'],
    });
  });

  it('hides secrets wherever they appear', () => {
    const { log, lines } = recorder({ secrets: ['tok"en-1', ''] });
    log.info('using tok"en-1', { nested: { header: 'Bearer tok"en-1' } });
    expect(lines[0]).toContain('"message":"using <hidden>","nested":{"header":"Bearer <hidden>"}');
  });
});

describe('sampling', () => {
  it('writes the first hundred of a second, then one in a hundred', () => {
    const { log, lines, advance } = recorder();
    for (let count = 0; count < 350; count += 1) log.info('same');
    expect(lines).toHaveLength(102);
    log.info('other');
    log.error('same');
    expect(lines).toHaveLength(104);
    advance(1000);
    log.info('same');
    expect(lines).toHaveLength(105);
  });

  it('stays bounded when all messages differ', () => {
    const { log, lines } = recorder();
    for (let count = 0; count < 4096 + 1000; count += 1) log.info(`message ${count}`);
    expect(lines).toHaveLength(4096 + 100 + 9);
  });
});

describe('sinks', () => {
  it('appends to files', () => {
    const folder = mkdtempSync(join(tmpdir(), 'nodewright-log-'));
    try {
      const paths = [join(folder, 'a.log'), join(folder, 'b.log'), join(folder, 'a.log')];
      const sink = openLogSink(paths);
      sink.write('one');
      sink.write('two');
      sink.close();
      expect(paths.map((path) => readFileSync(path, 'utf8'))).toEqual(['one\ntwo\n', 'one\ntwo\n', 'one\ntwo\n']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('says which path cannot be used', () => {
    expect(() => openLogSink(['/nonexistent/folder/x.log'])).toThrow(
      expect.objectContaining({
        code: 'LogPathUnusable',
        message: '/nonexistent/folder/x.log: cannot write the log here: there is no such folder',
      }) as Error,
    );
  });

  it('reports a lost line and does not throw', () => {
    const broken = {
      write: () => {
        throw new Error('disk full');
      },
      close: () => undefined,
    };
    const { log, failures } = recorder({ sink: broken });
    log.info('x');
    expect(failures).toEqual(['2026-01-02T03:04:05.006Z a log line was lost: disk full']);
  });
});
