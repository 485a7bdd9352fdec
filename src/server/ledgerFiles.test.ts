import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../kube/log.ts';
import { Ledger, type LedgerEntry } from '../ledger/ledger.ts';
import { podList } from '../ledger/podList.ts';
import type { DecisionRecord } from '../ledger/record.ts';
import { keepLedgerInFiles, readLedgerFiles } from './ledgerFiles.ts';

const HOUR = 3_600_000;
let directory = '';
let now = 1_000 * HOUR;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ledger-'));
  now = 1_000 * HOUR;
});
afterEach(() => rmSync(directory, { recursive: true }));

const nomination = (pod: string): DecisionRecord => ({ kind: 'nomination', pods: podList([pod]), node: 'n' });
const namesOf = (entries: readonly LedgerEntry[]): string[] =>
  entries.map((entry) => (entry.kind === 'nomination' ? (entry.pods.names[0] ?? '') : entry.kind));

/** A process with a ledger on disk; `end` is an orderly end, otherwise the process dies. */
function start(limits: { maxBytes?: number; maxAge?: number; limit?: number } = {}) {
  const ledger = new Ledger({ now: () => now, ...(limits.limit !== undefined && { limit: limits.limit }) });
  const { maxBytes = 1_000_000, maxAge = 24 * HOUR } = limits;
  const end = keepLedgerInFiles(ledger, { directory, maxBytes, maxAge, now: () => now, log: silentLog });
  return { ledger, end };
}

describe('the ledger on disk', () => {
  it('survives a restart, and numbers continue', () => {
    const first = start();
    first.ledger.append(nomination('a'));
    first.ledger.append(nomination('b'));
    const second = start();
    second.ledger.append(nomination('c'));
    expect(namesOf(second.ledger.entries())).toEqual(['a', 'b', 'c']);
    expect(second.ledger.entries().map(({ sequence }) => sequence)).toEqual([0, 1, 2]);
    expect(second.ledger.toJSON().dropped).toBe(0);
    expect(namesOf(readLedgerFiles(directory))).toEqual(['a', 'b', 'c']);
  });

  it('loses only a truncated record', () => {
    const first = start();
    first.ledger.append(nomination('a'));
    first.ledger.append(nomination('b'));
    first.end();
    const [name = ''] = readdirSync(directory);
    const path = join(directory, name);
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, -9));
    const second = start();
    expect(namesOf(second.ledger.entries())).toEqual(['a']);
    second.ledger.append(nomination('c'));
    second.end();
    // All files in a row, as jq reads them.
    const text = readdirSync(directory)
      .sort()
      .map((each) => readFileSync(join(directory, each), 'utf8'));
    expect(
      text
        .join('')
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as unknown),
    ).toHaveLength(2);
    expect(namesOf(start().ledger.entries())).toEqual(['a', 'c']);
  });

  it('leaves out lines of another schema and of no schema', () => {
    start().ledger.append(nomination('a'));
    const [name = ''] = readdirSync(directory);
    appendFileSync(join(directory, name), '{"schemaVersion":99,"kind":"x","sequence":5,"time":1}\n[]\n1\n\n');
    expect(namesOf(readLedgerFiles(directory))).toEqual(['a']);
  });

  it('respects its size limit: the oldest entries are dropped, and the newest are kept', () => {
    const { ledger } = start({ maxBytes: 4_000 });
    for (let at = 0; at < 500; at++) ledger.append(nomination(`pod-${at}`));
    const bytes = readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
    expect(bytes).toBeLessThanOrEqual(4_000);
    const names = namesOf(readLedgerFiles(directory));
    expect(names.at(-1)).toBe('pod-499');
    expect(names.length).toBeGreaterThan(10);
  });

  it('drops entries that are too old', () => {
    const first = start({ maxAge: HOUR });
    first.ledger.append(nomination('a'));
    first.end();
    now += 2 * HOUR;
    const second = start({ maxAge: HOUR });
    expect(second.ledger.entries()).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('drops entries that become too old while it runs', () => {
    const { ledger } = start({ maxAge: 8 * HOUR });
    for (let at = 0; at < 24; at++, now += HOUR) ledger.append(nomination(`pod-${at}`));
    const names = namesOf(readLedgerFiles(directory));
    expect(names.at(-1)).toBe('pod-23');
    expect(names).toContain('pod-16');
    expect(names).not.toContain('pod-12');
  });

  it('remembers after a restart since when a node has been kept', () => {
    const kept: DecisionRecord = { kind: 'kept', nodeClaim: 'a', cause: { kind: 'pdb', pod: 'x/y', budgets: ['x/b'] } };
    start().ledger.append(kept);
    const since = now;
    now += HOUR;
    const { ledger } = start();
    expect(ledger.append({ ...kept, cause: { kind: 'pdb', pod: 'x/z', budgets: ['x/b'] } })).toMatchObject({ since });
    expect(ledger.append({ ...kept, cause: { kind: 'empty' } })).toMatchObject({ since: now });
  });

  it.each([
    'Bearer abcdef0123456789abcdef',
    'https://x.blob.core.windows.net/a?sv=2020-01-01&sig=c2VjcmV0c2VjcmV0',
    'client_secret: "hunter2hunter2"',
    'AccountKey=c2VjcmV0c2VjcmV0;',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
    'token abcdef.0123456789abcdef of kubeadm',
  ])('keeps no secret: %s', (message) => {
    start().ledger.append({ kind: 'launch-failure', nodeClaim: 'a', reason: 'LaunchFailed', message });
    const text = readdirSync(directory)
      .map((name) => readFileSync(join(directory, name), 'utf8'))
      .join('');
    expect(text).toContain('[removed]');
    for (const secret of ['c2VjcmV0c2VjcmV0', 'hunter2', 'abcdef0123456789', 'eyJzdWIi', '0123456789abcdef']) {
      expect(text).not.toContain(secret);
    }
  });

  it('is readable by its owner only', () => {
    start().ledger.append(nomination('a'));
    const [name = ''] = readdirSync(directory);
    expect(statSync(join(directory, name)).mode & 0o077).toBe(0);
  });

  it('says which directory cannot be used', () => {
    writeFileSync(join(directory, 'file'), '');
    const ledger = new Ledger({ now: () => now });
    const options = { directory: join(directory, 'file'), maxBytes: 1, maxAge: 1, now: () => now, log: silentLog };
    expect(() => keepLedgerInFiles(ledger, options)).toThrow(expect.objectContaining({ code: 'LedgerUnusable' }));
  });
});
