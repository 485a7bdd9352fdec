import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printYaml } from '../../../src/api/yaml/printYaml.ts';
import { Kinds } from '../../../src/api/kinds.ts';
import type { KubeObject, ResourceKind } from '../../../src/api/object.ts';
import { SystemClock } from '../../../src/clock/systemClock.ts';
import { isForbidden } from '../../../src/kube/errors.ts';
import type { Kube } from '../../../src/kube/kube.ts';
import { createCertificateAuthority } from '../../controlplane/certificates.ts';
import { startControlPlane } from '../../controlplane/controlPlane.ts';
import type { ControlPlane } from '../../controlplane/controlPlane.ts';
import { eventually } from '../../controlplane/eventually.ts';
import { connections } from './connect.ts';
import { failure } from './failure.ts';

interface Review extends KubeObject {
  readonly status?: { readonly userInfo: { readonly username: string; readonly groups: readonly string[] } };
}

const selfSubjectReview: ResourceKind<Review> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  singular: 'selfsubjectreview',
  namespaced: false,
};

/** The machine's clock, moved forward on demand, so that nothing has to wait for a minute to pass. */
class SkewedClock extends SystemClock {
  ahead = 0;
  override now(): number {
    return super.now() + this.ahead;
  }
  override monotonic(): number {
    return super.monotonic() + this.ahead;
  }
}

describe('authentication at a real API server', () => {
  const connect = connections();
  let plane: ControlPlane;
  let admin: Kube;
  let files = 0;

  beforeAll(async () => {
    plane = await startControlPlane();
    admin = await connect(plane.adminKubeconfig);
    for (const name of ['alpha', 'beta']) {
      await admin.create(Kinds.ServiceAccount, { metadata: { name, namespace: 'default' } });
    }
  });
  afterAll(() => plane?.stop());

  const whoAmI = async (kube: Kube): Promise<string | undefined> =>
    (await kube.create(selfSubjectReview, { metadata: {} })).status?.userInfo.username;
  const account = (name: string): string => `system:serviceaccount:default:${name}`;
  const tokenFor = async (name: string): Promise<string> =>
    (await plane.kubectl(['create', 'token', name])).stdout.trim();
  const file = async (content: string, mode = 0o600): Promise<string> => {
    files += 1;
    const path = join(plane.workDir, `authentication-${files}`);
    await writeFile(path, content);
    await chmod(path, mode);
    return path;
  };
  const kubeconfig = (user: object, cluster: object = {}): Promise<string> => {
    const data = Buffer.from(plane.ca).toString('base64');
    return file(
      printYaml({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'here',
        clusters: [{ name: 'here', cluster: { server: plane.server, 'certificate-authority-data': data, ...cluster } }],
        users: [{ name: 'me', user }],
        contexts: [{ name: 'here', context: { cluster: 'here', user: 'me' } }],
      }),
    );
  };
  /** A plug-in that prints what `answer` holds at that moment, and keeps a list of what it was told. */
  const plugin = async (answer: string): Promise<{ exec: object; calls: () => Promise<string[]> }> => {
    const journal = await file('');
    const script = await file(
      `#!/bin/sh\necho "$GREETING $1 $KUBERNETES_EXEC_INFO" >> ${journal}\ncat ${answer}\n`,
      0o700,
    );
    return {
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: script,
        args: ['login'],
        env: [{ name: 'GREETING', value: 'hello' }],
        interactiveMode: 'Never',
        provideClusterInfo: true,
      },
      calls: async () => (await readFile(journal, 'utf8')).split('\n').filter((line) => line !== ''),
    };
  };
  const execCredential = (status: object): string =>
    JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status });

  it('client certificate: is the user and the groups of its subject, and may do what its roles say', async () => {
    const kube = await connect(await plane.kubeconfigFor('jane', ['team-a', 'team-b']));
    const review = await kube.create(selfSubjectReview, { metadata: {} });
    expect(review.status?.userInfo).toMatchObject({
      username: 'jane',
      groups: expect.arrayContaining(['team-a', 'team-b']) as string[],
    });
    const error = await failure(kube.list(Kinds.Pod, { namespace: 'default' }));
    expect(isForbidden(error)).toBe(true);
    expect(error).toMatchObject({ code: 403, message: expect.stringContaining('User "jane" cannot list') as string });

    await plane.kubectl(['create', 'clusterrole', 'look', '--verb=get,list', '--resource=pods']);
    await plane.kubectl(['create', 'clusterrolebinding', 'team-a', '--clusterrole=look', '--group=team-a']);
    await eventually('the role works', () => kube.list(Kinds.Pod, { namespace: 'default' }).catch(() => undefined));
    const created = kube.create(Kinds.ConfigMap, { metadata: { name: 'x', namespace: 'default' } });
    expect(isForbidden(await failure(created))).toBe(true);
  });

  it('client certificate in files', async () => {
    const pair = await readFile(await plane.kubeconfigFor('files'), 'utf8');
    const [certificate, key] = ['client-certificate-data', 'client-key-data'].map((field) =>
      Buffer.from(new RegExp(`${field}: (\\S+)`).exec(pair)?.[1] ?? '', 'base64').toString(),
    );
    const user = { 'client-certificate': await file(certificate ?? ''), 'client-key': await file(key ?? '') };
    expect(await whoAmI(await connect(await kubeconfig(user)))).toBe('files');
  });

  it('token', async () => {
    const kube = await connect(await kubeconfig({ token: await tokenFor('alpha') }));
    expect(await whoAmI(kube)).toBe(account('alpha'));
  });

  it('a token that the server does not know is a 401, without endless tries', async () => {
    const kube = await connect(await kubeconfig({ token: 'nonsense' }));
    expect(await failure(whoAmI(kube))).toMatchObject({ code: 401, reason: 'Unauthorized' });
  });

  it('token file: notices a rotation within its period, and at once when the old token is refused', async () => {
    const tokenFile = await file(`${await tokenFor('alpha')}\n`);
    const clock = new SkewedClock();
    const kube = await connect(await kubeconfig({ tokenFile }), { clock });
    expect(await whoAmI(kube)).toBe(account('alpha'));
    await writeFile(tokenFile, await tokenFor('beta'));
    expect(await whoAmI(kube)).toBe(account('alpha'));
    clock.ahead = 5 * 60_000;
    expect(await whoAmI(kube)).toBe(account('beta'));

    await writeFile(tokenFile, 'nonsense');
    clock.ahead = 10 * 60_000;
    expect(await failure(whoAmI(kube))).toMatchObject({ code: 401 });
    await writeFile(tokenFile, await tokenFor('alpha'));
    expect(await whoAmI(kube)).toBe(account('alpha'));
  });

  it('exec plug-in: is told the cluster, is asked once, and again before its token expires', async () => {
    const clock = new SkewedClock();
    const expirationTimestamp = new Date(Date.now() + 3_600_000).toISOString();
    const answer = await file(execCredential({ token: await tokenFor('alpha'), expirationTimestamp }));
    const { exec, calls } = await plugin(answer);
    const kube = await connect(await kubeconfig({ exec }), { clock });
    expect(await Promise.all([whoAmI(kube), whoAmI(kube), whoAmI(kube)])).toEqual(Array(3).fill(account('alpha')));
    expect(await calls()).toHaveLength(1);
    const [greeting, argument, ...info] = (await calls())[0]?.split(' ') ?? [];
    expect([greeting, argument]).toEqual(['hello', 'login']);
    expect(JSON.parse(info.join(' '))).toMatchObject({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: plane.server } },
    });

    await writeFile(answer, execCredential({ token: await tokenFor('beta') }));
    clock.ahead = 3_600_000;
    expect(await whoAmI(kube)).toBe(account('beta'));
    expect(await calls()).toHaveLength(2);
  });

  it('exec plug-in: is asked again when the server refuses its token', async () => {
    const clock = new SkewedClock();
    const answer = await file(execCredential({ token: 'nonsense' }));
    const { exec, calls } = await plugin(answer);
    const kube = await connect(await kubeconfig({ exec }), { clock });
    expect(await failure(whoAmI(kube))).toMatchObject({ code: 401 });
    await writeFile(answer, execCredential({ token: await tokenFor('beta') }));
    clock.ahead = 60_000;
    expect(await whoAmI(kube)).toBe(account('beta'));
    expect((await calls()).length).toBeLessThanOrEqual(3);
  });

  it('exec plug-in: may answer with a client certificate', async () => {
    const text = await readFile(await plane.kubeconfigFor('by-plugin'), 'utf8');
    const [clientCertificateData, clientKeyData] = ['client-certificate-data', 'client-key-data'].map((field) =>
      Buffer.from(new RegExp(`${field}: (\\S+)`).exec(text)?.[1] ?? '', 'base64').toString(),
    );
    const { exec } = await plugin(await file(execCredential({ clientCertificateData, clientKeyData })));
    expect(await whoAmI(await connect(await kubeconfig({ exec })))).toBe('by-plugin');
  });

  it('exec plug-in that fails: the error says which and why', async () => {
    const script = await file('#!/bin/sh\necho "please log in first" >&2\nexit 3\n', 0o700);
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: script, interactiveMode: 'Never' };
    const error = await failure(whoAmI(await connect(await kubeconfig({ exec }))));
    expect(String(error)).toContain(script);
    expect(String(error)).toContain('please log in first');
  });

  it('impersonation', async () => {
    const text = await readFile(plane.adminKubeconfig, 'utf8');
    const field = (name: string): string => new RegExp(`${name}: (\\S+)`).exec(text)?.[1] ?? '';
    const user = {
      'client-certificate-data': field('client-certificate-data'),
      'client-key-data': field('client-key-data'),
      as: 'somebody',
      'as-groups': ['else'],
    };
    const review = await (await connect(await kubeconfig(user))).create(selfSubjectReview, { metadata: {} });
    expect(review.status?.userInfo).toMatchObject({
      username: 'somebody',
      groups: expect.arrayContaining(['else']) as string[],
    });
  });

  it('checks the name in the certificate of the server', async () => {
    const token = await tokenFor('alpha');
    const named = async (name: string): Promise<Kube> =>
      connect(await kubeconfig({ token }, { 'tls-server-name': name }), { maxRetries: 0 });
    expect(await whoAmI(await named('localhost'))).toBe(account('alpha'));
    const error = await failure(whoAmI(await named('elsewhere.example')));
    expect(error).toMatchObject({ code: 0, reason: 'Unreachable' });
    expect(String(error)).toContain('elsewhere.example');
  });

  it('refuses a server that another authority vouches for', async () => {
    const stranger = (await createCertificateAuthority()).pair.certificate;
    const data = Buffer.from(stranger).toString('base64');
    const path = await kubeconfig({ token: await tokenFor('alpha') }, { 'certificate-authority-data': data });
    const error = await failure(whoAmI(await connect(path, { maxRetries: 0 })));
    expect(error).toMatchObject({ code: 0, reason: 'Unreachable' });
  });
});
