import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../clock/virtualClock.ts';
import { describeThrown } from '../errors/thrown.ts';
import type { ExecConfig } from './clusterConfig.ts';
import { credentialSource } from './credentials.ts';
import type { CredentialSource } from './credentialSource.ts';

let directory: string;
let clock: VirtualClock;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'exec-'));
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
});
afterEach(() => rm(directory, { recursive: true }));

/** A plug-in that counts its runs, notes what it was told, and prints what `answer` makes of the count. */
async function plugin(answer: string, config: Partial<ExecConfig> = {}): Promise<CredentialSource> {
  // A package.json further up, wherever temporary files are, must not make a module of it.
  await writeFile(join(directory, 'package.json'), '{}');
  const command = join(directory, 'login');
  await writeFile(
    command,
    `#!${process.execPath}
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const file = ${JSON.stringify(join(directory, 'runs'))};
const runs = existsSync(file) ? Number(readFileSync(file)) + 1 : 1;
writeFileSync(file, String(runs));
writeFileSync(file + '.told', JSON.stringify({ args: process.argv.slice(2), mode: process.env.MODE, info: JSON.parse(process.env.KUBERNETES_EXEC_INFO) }));
const credential = (status) => console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status }));
${answer}
`,
  );
  await chmod(command, 0o755);
  const exec: ExecConfig = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command,
    args: [],
    env: {},
    interactiveMode: 'Never',
    ...config,
  };
  return credentialSource({ exec }, clock);
}

const runs = async (): Promise<number> => Number(await readFile(join(directory, 'runs'), 'utf8'));
const token = async (source: CredentialSource): Promise<string | undefined> => (await source.current()).authorization;

describe('exec plug-ins', () => {
  it('get the cluster information, and run once for many requests', async () => {
    const source = await plugin(`credential({ token: 'token-' + runs });`, {
      args: ['get-token', '--x'],
      env: { MODE: 'spn' },
      cluster: { server: 'https://api' },
    });
    expect(await Promise.all([token(source), token(source), token(source)])).toEqual(
      Array.from({ length: 3 }, () => 'Bearer token-1'),
    );
    expect(await token(source)).toBe('Bearer token-1');
    expect(await runs()).toBe(1);
    expect(JSON.parse(await readFile(join(directory, 'runs.told'), 'utf8'))).toEqual({
      args: ['get-token', '--x'],
      mode: 'spn',
      info: {
        apiVersion: 'client.authentication.k8s.io/v1',
        kind: 'ExecCredential',
        spec: { interactive: false, cluster: { server: 'https://api' } },
      },
    });
  });

  it('run again shortly before their credential expires', async () => {
    const source = await plugin(
      `credential({ token: 'token-' + runs, expirationTimestamp: runs === 1 ? '2026-01-01T01:00:00Z' : '2026-01-01T02:00:00Z' });`,
    );
    expect(await token(source)).toBe('Bearer token-1');
    await clock.advance(58 * 60_000);
    expect(await token(source)).toBe('Bearer token-1');
    await clock.advance(90_000);
    expect(await token(source)).toBe('Bearer token-2');
  });

  it('may fail until the credential really expires', async () => {
    const source = await plugin(
      `if (runs > 1) { console.error('no network'); process.exit(3); }
       credential({ token: 'token-1', expirationTimestamp: '2026-01-01T01:00:00Z' });`,
    );
    await token(source);
    await clock.advance(59.5 * 60_000);
    expect(await token(source)).toBe('Bearer token-1');
    await clock.advance(60_000);
    await expect(token(source)).rejects.toThrow(/login exited with 3: no network/);
  });

  it('run again when the server refuses what they gave, but not at every refusal', async () => {
    const source = await plugin(`credential({ token: 'token-' + runs });`);
    const first = await source.current();
    expect(await source.renew(first)).toBeUndefined();
    await clock.advance(11_000);
    const renewed = await Promise.all([source.renew(first), source.renew(first)]);
    expect(renewed.map((credentials) => credentials?.authorization)).toEqual(['Bearer token-2', 'Bearer token-2']);
    expect((await source.renew(first))?.authorization).toBe('Bearer token-2');
    expect(await runs()).toBe(2);
  });

  it('may give certificates', async () => {
    const source = await plugin(`credential({ clientCertificateData: 'CERT', clientKeyData: 'KEY' });`);
    expect(await source.current()).toEqual({ certificate: { cert: 'CERT', key: 'KEY' } });
  });

  it('are named in errors about them', async () => {
    const problemOf = async (answer: string, config: Partial<ExecConfig> = {}): Promise<string> => {
      const source = await plugin(answer, config);
      const error = await source.current().catch((caught: unknown) => caught);
      return describeThrown(error).replaceAll(directory, '<dir>');
    };
    expect([
      await problemOf(`console.log('hello');`),
      await problemOf(`console.log('{"kind":"Secret"}');`),
      await problemOf(`credential({ token: 'a' });`, { apiVersion: 'client.authentication.k8s.io/v1beta1' }),
      await problemOf(`credential({});`),
      await problemOf(`credential({ clientKeyData: 'KEY' });`),
      await problemOf(`credential({ token: 'a', expirationTimestamp: 'soon' });`),
      await problemOf(`console.error('bad password'); process.exit(1);`),
      await problemOf('', { command: 'no-such-plugin', installHint: 'Install it from example.com.' }),
      await problemOf(`credential({ token: 'a' });`, { interactiveMode: 'Always' }),
    ]).toMatchInlineSnapshot(`
      [
        "exec plug-in <dir>/login did not print JSON; run <dir>/login by hand and correct what it reports [CredentialPluginFailed]",
        "exec plug-in <dir>/login printed kind "Secret", not ExecCredential; run <dir>/login by hand and correct what it reports [CredentialPluginFailed]",
        "exec plug-in <dir>/login printed apiVersion "client.authentication.k8s.io/v1", but the kubeconfig says client.authentication.k8s.io/v1beta1; run <dir>/login by hand and correct what it reports [CredentialPluginFailed]",
        "exec plug-in <dir>/login gave neither status.token nor a client certificate; run <dir>/login by hand and correct what it reports [CredentialPluginFailed]",
        "exec plug-in <dir>/login gave only one of clientCertificateData and clientKeyData; run <dir>/login by hand and correct what it reports [CredentialPluginFailed]",
        "exec plug-in <dir>/login gave an unreadable expirationTimestamp "soon"; run <dir>/login by hand and correct what it reports [CredentialPluginFailed]",
        "exec plug-in <dir>/login exited with 1: bad password; run <dir>/login by hand and correct what it reports [CredentialPluginFailed]",
        "exec plug-in no-such-plugin is not installed or not on PATH; Install it from example.com. [CredentialPluginFailed]",
        "exec plug-in <dir>/login needs a terminal (interactiveMode: Always), and there is none; run <dir>/login by hand and correct what it reports [CredentialPluginFailed]",
      ]
    `);
  });
});
