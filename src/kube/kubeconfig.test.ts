import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { printYaml } from '../api/yaml/printYaml.ts';
import { NodewrightError } from '../errors/nodewrightError.ts';
import { defaultClusterConfig, inClusterConfig } from './inCluster.ts';
import { loadKubeconfig } from './kubeconfig.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
});
afterEach(() => rm(directory, { recursive: true }));

const PEM = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const PEM_BASE64 = Buffer.from(PEM).toString('base64');

async function file(name: string, content: object | string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, typeof content === 'string' ? content : printYaml(content));
  return path;
}

const single = (cluster: object, user: object = {}): object => ({
  'current-context': 'here',
  contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace: 'apps' } }],
  clusters: [{ name: 'c', cluster }],
  users: [{ name: 'u', user }],
});

const loaded = async (cluster: object, user?: object): ReturnType<typeof loadKubeconfig> =>
  loadKubeconfig({ path: await file('config', single(cluster, user)), environment: {} });

async function problem(cluster: object, user?: object): Promise<string> {
  const error = await loaded(cluster, user).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(NodewrightError);
  return (error as Error).message.replaceAll(directory, '<dir>');
}

describe('loadKubeconfig', () => {
  it('reads a plain http server without credentials', async () => {
    expect(await loaded({ server: 'http://127.0.0.1:8080/' })).toEqual({
      server: 'http://127.0.0.1:8080',
      tls: { insecureSkipVerify: false },
      credentials: {},
      namespace: 'apps',
    });
  });

  it('reads TLS, proxy and certificate settings, inline and from files relative to the kubeconfig', async () => {
    await mkdir(join(directory, 'pki'));
    await file('pki/ca.crt', PEM);
    await file('pki/me.key', 'KEY');
    const config = await loaded(
      {
        server: 'https://api.example:6443/base/',
        'certificate-authority': 'pki/ca.crt',
        'tls-server-name': 'kubernetes',
        'proxy-url': 'http://proxy:3128',
      },
      { 'client-certificate-data': PEM_BASE64, 'client-key': 'pki/me.key', tokenFile: 'token', token: 'ignored' },
    );
    expect(config).toEqual({
      server: 'https://api.example:6443/base',
      tls: { insecureSkipVerify: false, ca: PEM, serverName: 'kubernetes' },
      proxyUrl: 'http://proxy:3128',
      credentials: {
        token: { file: join(directory, 'token') },
        certificate: { cert: { value: PEM }, key: { file: join(directory, 'pki/me.key') } },
      },
      namespace: 'apps',
    });
  });

  it('reads impersonation and basic credentials', async () => {
    const config = await loaded(
      { server: 'https://api' },
      {
        username: 'me',
        password: 'secret',
        as: 'other',
        'as-uid': '7',
        'as-groups': ['a', 'b'],
        'as-user-extra': { scopes: ['x'] },
      },
    );
    expect(config.credentials.basic).toEqual({ username: 'me', password: 'secret' });
    expect(config.impersonate).toEqual({ user: 'other', uid: '7', groups: ['a', 'b'], extra: { scopes: ['x'] } });
  });

  it('reads an exec plug-in with cluster information', async () => {
    const config = await loaded(
      {
        server: 'https://api',
        'certificate-authority-data': PEM_BASE64,
        extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'aks' } }],
      },
      {
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: './bin/login',
          args: ['get-token', '--x'],
          env: [{ name: 'MODE', value: 'spn' }],
          interactiveMode: 'Never',
          provideClusterInfo: true,
          installHint: 'install it',
        },
      },
    );
    expect(config.credentials.exec).toEqual({
      apiVersion: 'client.authentication.k8s.io/v1',
      command: join(directory, 'bin/login'),
      args: ['get-token', '--x'],
      env: { MODE: 'spn' },
      interactiveMode: 'Never',
      installHint: 'install it',
      cluster: { server: 'https://api', 'certificate-authority-data': PEM_BASE64, config: { audience: 'aks' } },
    });
  });

  it('merges the files of KUBECONFIG: the first to name something wins, and paths belong to their own file', async () => {
    await mkdir(join(directory, 'other'));
    const first = await file('first', {
      'current-context': 'both',
      contexts: [{ name: 'both', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: 'https://first' } }],
    });
    const second = await file('other/second', {
      'current-context': 'lost',
      contexts: [{ name: 'lost', context: { cluster: 'c' } }],
      clusters: [{ name: 'c', cluster: { server: 'https://second' } }],
      users: [{ name: 'u', user: { tokenFile: 'token' } }],
    });
    const environment = { KUBECONFIG: [join(directory, 'missing'), first, second].join(delimiter) };
    expect(await loadKubeconfig({ environment })).toMatchObject({
      server: 'https://first',
      credentials: { token: { file: join(directory, 'other/token') } },
    });
    expect(await loadKubeconfig({ environment, context: 'lost' })).toMatchObject({ credentials: {} });
  });

  it('names file and field of what is wrong', async () => {
    const server = 'https://api';
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'login', interactiveMode: 'Never' };
    const problems = [
      await problem({}),
      await problem({ server: 'localhost:8080' }),
      await problem({ server, 'certificate-authority': 'no.crt' }),
      await problem({ server, 'certificate-authority-data': 'QUJD' }),
      await problem({ server, 'certificate-authority-data': PEM_BASE64, 'insecure-skip-tls-verify': true }),
      await problem({ server, 'insecure-skip-tls-verify': 'yes' }),
      await problem({ server, 'proxy-url': 'ftp://proxy' }),
      await problem({ server }, { 'client-certificate-data': PEM_BASE64 }),
      await problem({ server }, { username: 'me', token: 'abc' }),
      await problem({ server }, { token: 12 }),
      await problem({ server }, { 'auth-provider': { name: 'azure' } }),
      await problem({ server }, { 'as-groups': ['a'] }),
      await problem({ server }, { exec: { ...exec, apiVersion: 'client.authentication.k8s.io/v1alpha1' } }),
      await problem({ server }, { exec: { ...exec, interactiveMode: undefined } }),
      await problem({ server }, { exec: { ...exec, env: [{ value: 'x' }] } }),
    ];
    expect(problems).toMatchInlineSnapshot(`
      [
        "<dir>/config: clusters["c"].cluster.server: required, but missing",
        "<dir>/config: clusters["c"].cluster.server: "localhost:8080" is not an http:// or https:// address",
        "<dir>/config: clusters["c"].cluster.certificate-authority: cannot read <dir>/no.crt: there is no such file",
        "<dir>/config: clusters["c"].cluster.certificate-authority-data: is not base64 of a PEM text",
        "<dir>/config: clusters["c"].cluster.certificate-authority-data: cannot be combined with insecure-skip-tls-verify: true",
        "<dir>/config: clusters["c"].cluster.insecure-skip-tls-verify: expected true or false, found a string",
        "<dir>/config: clusters["c"].cluster.proxy-url: "ftp://proxy" is not an http://, https:// or socks5:// address",
        "<dir>/config: users["u"].user.client-key: required beside client-certificate, but missing",
        "<dir>/config: users["u"].user.username: cannot be combined with a token: choose one way to authenticate",
        "<dir>/config: users["u"].user.token: expected text, found a number",
        "<dir>/config: users["u"].user.auth-provider: "azure" is a legacy provider that kubectl removed; convert it to an exec plug-in (for Azure: kubelogin convert-kubeconfig)",
        "<dir>/config: users["u"].user.as: required to act for a group, uid or extra field, but missing",
        "<dir>/config: users["u"].user.exec.apiVersion: "client.authentication.k8s.io/v1alpha1" is not supported; use client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1",
        "<dir>/config: users["u"].user.exec.interactiveMode: required with client.authentication.k8s.io/v1, but missing",
        "<dir>/config: users["u"].user.exec.env[0].name: required, but missing",
      ]
    `);
  });

  it('says which names exist when one does not', async () => {
    const path = await file('config', { ...single({ server: 'https://api' }), 'current-context': 'there' });
    await expect(loadKubeconfig({ path })).rejects.toThrow(
      `${path}: current-context: names "there", but contexts has only here`,
    );
    await expect(loadKubeconfig({ path: join(directory, 'nowhere') })).rejects.toThrow(/nowhere: cannot be read/);
    await expect(loadKubeconfig({ path: await file('bad', 'a: [') })).rejects.toThrow(/bad: not valid YAML/);
    await expect(loadKubeconfig({ path: await file('list', '- a') })).rejects.toThrow(/list: expected a mapping/);
    await expect(loadKubeconfig({ environment: {}, homeDirectory: directory })).rejects.toThrow(/no kubeconfig file/);
  });
});

describe('inClusterConfig', () => {
  const environment = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };

  it('takes the service account of the pod', async () => {
    await file('token', 'abc');
    await file('ca.crt', PEM);
    await file('namespace', 'system\n');
    expect(await inClusterConfig({ environment, directory })).toEqual({
      server: 'https://[fd00::1]:443',
      tls: { ca: PEM, insecureSkipVerify: false },
      credentials: { token: { file: join(directory, 'token') } },
      namespace: 'system',
    });
  });

  it('says what is missing', async () => {
    await expect(inClusterConfig({ environment: {}, directory })).rejects.toThrow(/KUBERNETES_SERVICE_HOST: not set/);
    await expect(inClusterConfig({ environment, directory })).rejects.toThrow(/token: cannot be read/);
  });

  it('is the default in a pod, unless a kubeconfig is named', async () => {
    await file('token', 'abc');
    await file('ca.crt', PEM);
    const path = await file('config', single({ server: 'https://named' }));
    const server = async (options: object): Promise<string> =>
      (await defaultClusterConfig({ directory, homeDirectory: directory, ...options })).server;
    expect(await server({ environment })).toBe('https://[fd00::1]:443');
    expect(await server({ environment, path })).toBe('https://named');
    expect(await server({ environment: { ...environment, KUBECONFIG: path } })).toBe('https://named');
    await expect(server({ environment: {} })).rejects.toThrow(/no kubeconfig file/);
  });
});
