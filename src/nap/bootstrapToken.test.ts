import { beforeEach, describe, expect, it } from 'vitest';
import { Kinds } from '../api/kinds.ts';
import { BootstrapTokens } from '../azure/bootstrap/bootstrapTokens.ts';
import { VirtualClock } from '../clock/virtualClock.ts';
import { SeededRandom } from '../clock/seededRandom.ts';
import { createJsonLog } from '../server/jsonLog.ts';
import { isBootstrapToken } from '../local/aks/bootstrapTokens.ts';
import { LocalApiServer } from '../local/apiserver/localApiServer.ts';
import { keepBootstrapToken, REVOKE_AFTER, type TokenKeeping } from './bootstrapToken.ts';

const HOUR = 3_600_000;

describe('the bootstrap token of a cluster', () => {
  let clock: VirtualClock;
  let keeping: TokenKeeping;
  let lines: string[];

  beforeEach(() => {
    clock = new VirtualClock(Date.parse('2026-11-16T12:00:00Z'));
    const random = new SeededRandom(1);
    const { kube } = new LocalApiServer({ clock, random });
    lines = [];
    const sink = { write: (line: string) => void lines.push(line), close: () => undefined };
    keeping = { kube, clock, random, log: createJsonLog({ level: 'debug', sink, failureSink: sink, clock }) };
  });

  const secrets = async () => (await keeping.kube.list(Kinds.Secret, { namespace: 'kube-system' })).items;
  /** As a launch finds it. */
  const current = (): Promise<string> =>
    new BootstrapTokens({ kube: keeping.kube, clock, configured: 'auto' }).current();
  const isKnown = async (token: string): Promise<boolean> => isBootstrapToken(await secrets(), token, clock.now());

  it('is made once, and lets nodes in', async () => {
    await keepBootstrapToken(keeping);
    await keepBootstrapToken(keeping);
    expect(await secrets()).toHaveLength(1);
    const token = await current();
    expect(token).toMatch(/^[a-z0-9]{6}\.[a-z0-9]{16}$/);
    expect(await isKnown(token)).toBe(true);
    expect(await isKnown('abcdef.0123456789abcdef')).toBe(false);
  });

  it('is rotated every day, and the old one is revoked when no booting node can need it', async () => {
    await keepBootstrapToken(keeping);
    const first = await current();
    await clock.advance(24 * HOUR);
    await keepBootstrapToken(keeping);
    const second = await current();
    expect(second).not.toBe(first);
    await clock.advance(REVOKE_AFTER - 1);
    await keepBootstrapToken(keeping);
    expect([await isKnown(first), await isKnown(second)]).toEqual([true, true]);
    await clock.advance(1);
    await keepBootstrapToken(keeping);
    expect([await isKnown(first), await isKnown(second)]).toEqual([false, true]);
    expect(await secrets()).toHaveLength(1);
  });

  it('is there again after its keeper was away for long', async () => {
    await keepBootstrapToken(keeping);
    const first = await current();
    await clock.advance(100 * HOUR);
    expect(await isKnown(first)).toBe(false);
    await keepBootstrapToken(keeping);
    expect(await isKnown(await current())).toBe(true);
  });

  it('leaves the tokens of others alone', async () => {
    const name = 'bootstrap-token-others';
    await keeping.kube.create(Kinds.Secret, {
      metadata: { namespace: 'kube-system', name },
      type: 'bootstrap.kubernetes.io/token',
      data: {},
    });
    for (const hours of [0, 24, 2]) {
      await clock.advance(hours * HOUR);
      await keepBootstrapToken(keeping);
    }
    expect((await secrets()).map(({ metadata }) => metadata.name)).toContain(name);
    expect(await secrets()).toHaveLength(2);
  });

  it('is in no line of the log', async () => {
    const seen: string[] = [];
    for (let day = 0; day < 3; day += 1) {
      await keepBootstrapToken(keeping);
      seen.push(await current());
      await clock.advance(2 * HOUR);
      await keepBootstrapToken(keeping);
      await clock.advance(22 * HOUR);
    }
    expect(lines.join('\n')).toContain('rotated the bootstrap token');
    for (const secret of seen.flatMap((token) => token.split('.'))) expect(lines.join('\n')).not.toContain(secret);
  });
});
