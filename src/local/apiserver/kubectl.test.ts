/** The real `kubectl` against the server, with the usual commands. */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderCrds } from '../../api/crds.ts';
import { Kinds } from '../../api/kinds.ts';
import { SystemClock } from '../../clock/systemClock.ts';
import { systemRandom } from '../../clock/systemRandom.ts';
import { LocalApiServer } from './localApiServer.ts';

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let folder: string;
let server: LocalApiServer;

/** Excludes the cluster and caches of the user who runs the tests. */
function environment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    KUBECONFIG: join(folder, 'kubeconfig'),
    KUBECACHEDIR: join(folder, 'cache'),
  };
}

async function run(...parameters: string[]): Promise<Outcome> {
  return await new Promise((resolve) => {
    execFile('kubectl', parameters, { env: environment(), timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout, stderr });
    });
  });
}

/** Returns the output of a command; throws if the command fails. */
async function kubectl(...parameters: string[]): Promise<string> {
  const outcome = await run(...parameters);
  if (outcome.code !== 0) throw new Error(`kubectl ${parameters.join(' ')}: ${outcome.stdout}${outcome.stderr}`);
  return outcome.stdout.trimEnd();
}

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

const hasKubectl = await new Promise<boolean>((resolve) => {
  execFile('kubectl', ['version', '--client'], (error) => resolve(error === null));
});

const APP = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, labels: {app: app}}
spec:
  replicas: 2
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      containers:
      - {name: main, image: "nginx:1.25", ports: [{containerPort: 80}]}
      - {name: side, image: "busybox:1"}
`;
const POOL = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: [{key: kubernetes.io/os, operator: In, values: [linux]}]
`;

// Needs a kubectl on PATH, any version from 1.30 on; without one these tests are skipped.
describe.skipIf(!hasKubectl)('kubectl', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nodewright-kubectl-'));
    server = new LocalApiServer({ clock: new SystemClock(), random: systemRandom });
    for (const crd of renderCrds()) await server.kube.create(Kinds.CustomResourceDefinition, crd);
    await server.listen();
    await server.writeKubeconfig(join(folder, 'kubeconfig'));
  });

  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('discovers built-in and custom kinds', async () => {
    const kinds = await kubectl('api-resources', '--no-headers');
    expect(kinds).toMatch(/^pods +po +v1 +true +Pod$/m);
    expect(kinds).toMatch(/^nodepools +karpenter.sh\/v1 +false +NodePool$/m);
    expect(await kubectl('api-versions')).toContain('karpenter.azure.com/v1beta1');
    expect(await kubectl('get', '--raw', '/readyz')).toBe('ok');
  });

  it('explains built-in and custom kinds', async () => {
    expect(await kubectl('explain', 'deployment.spec.strategy')).toContain('rollingUpdate');
    expect(await kubectl('explain', 'nodepool.spec.disruption')).toContain('consolidateAfter');
  });

  it('is authorized for everything', async () => {
    expect(await kubectl('auth', 'can-i', 'create', 'pods')).toBe('yes');
    expect(await kubectl('auth', 'whoami')).toContain('nodewright-admin');
  });

  it('creates, scales, patches in three ways, labels and shows a deployment', async () => {
    await kubectl('create', 'deployment', 'web', '--image=nginx', '--replicas=3');
    await kubectl('set', 'resources', 'deployment', 'web', '--requests=cpu=900m,memory=1Gi');
    expect(await kubectl('get', 'deployment', 'web', '--no-headers', '-o', 'wide')).toMatch(
      /^web +0\/3 +0 +0 +\d+s +nginx +nginx +app=web$/,
    );
    await kubectl('scale', 'deployment', 'web', '--replicas=5');
    const environmentPatch = {
      spec: { template: { spec: { containers: [{ name: 'nginx', env: [{ name: 'A', value: '1' }] }] } } },
    };
    await kubectl('patch', 'deployment', 'web', '-p', JSON.stringify(environmentPatch));
    await kubectl('patch', 'deployment', 'web', '--type=merge', '-p', '{"metadata":{"annotations":{"x":"y"}}}');
    await kubectl(
      'patch',
      'deployment',
      'web',
      '--type=json',
      '-p',
      '[{"op":"replace","path":"/spec/replicas","value":2}]',
    );
    await kubectl('label', 'deployment', 'web', 'team=a');
    await kubectl('annotate', 'deployment', 'web', 'x-', 'b=c');
    const read = async (path: string): Promise<string> =>
      await kubectl('get', 'deployment', 'web', '-o', `jsonpath=${path}`);
    expect(await read('{.spec.replicas} {.metadata.labels.team} {.metadata.annotations}')).toBe('2 a {"b":"c"}');
    expect(
      await read('{.spec.template.spec.containers[0].env} {.spec.template.spec.containers[0].resources.requests.cpu}'),
    ).toBe('[{"name":"A","value":"1"}] 900m');
    expect(await kubectl('describe', 'deployment', 'web')).toContain('2 desired | 0 updated | 0 total');
    expect(await kubectl('get', 'deployment', 'web', '-o', 'yaml')).toContain('progressDeadlineSeconds: 600');
  });

  it('applies, applies again, and removes what the file no longer contains', async () => {
    const path = await file('app.yaml', APP);
    expect(await kubectl('apply', '-f', path)).toBe('deployment.apps/app created');
    expect(await kubectl('apply', '-f', path)).toBe('deployment.apps/app unchanged');
    await file('app.yaml', APP.replace(/ +- \{name: side.*\n/, '').replace('1.25', '1.26'));
    const difference = await run('diff', '-f', path);
    expect(difference.code).toBe(1);
    expect(difference.stdout).toContain('+      - image: nginx:1.26');
    expect(await kubectl('apply', '-f', path)).toBe('deployment.apps/app configured');
    expect(await kubectl('get', 'deployment', 'app', '-o', 'jsonpath={.spec.template.spec.containers[*].image}')).toBe(
      'nginx:1.26',
    );
  });

  it('applies on the server side, and reports conflicts', async () => {
    const path = await file('pool.yaml', POOL);
    expect(await kubectl('apply', '--server-side', '-f', path)).toBe(
      'nodepool.karpenter.sh/general serverside-applied',
    );
    const other = await file('pool2.yaml', POOL.replace('[linux]', '[windows]'));
    const refused = await run('apply', '--server-side', '--field-manager=other', '-f', other);
    expect(refused.stderr).toContain(
      'Apply failed with 1 conflict: conflict with "kubectl": .spec.template.spec.requirements',
    );
    await kubectl('apply', '--server-side', '--force-conflicts', '--field-manager=other', '-f', other);
    expect(await kubectl('get', 'nodepools', '--no-headers')).toMatch(/^general +default/);
  });

  it('shows errors with the messages of a real server', async () => {
    expect((await run('get', 'pod', 'nope')).stderr).toContain('Error from server (NotFound): pods "nope" not found');
    expect((await run('create', 'deployment', 'web', '--image=x')).stderr).toContain(
      'deployments.apps "web" already exists',
    );
    const wrong = await file('wrong.yaml', POOL.replace('spec:\n', 'spec:\n  weigth: 5\n').replace('general', 'wrong'));
    expect((await run('create', '-f', wrong)).stderr).toContain('strict decoding error: unknown field "spec.weigth"');
    const invalid = await file(
      'invalid.yaml',
      POOL.replace('spec:\n', 'spec:\n  weight: 500\n').replace('general', 'invalid'),
    );
    expect((await run('create', '-f', invalid)).stderr).toContain('The NodePool "invalid" is invalid: spec.weight');
  });

  it('taints, cordons and drains a node', async () => {
    await server.kube.create(Kinds.Node, {
      metadata: { name: 'n1' },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
    await kubectl('taint', 'node', 'n1', 'a=b:NoSchedule');
    await kubectl('run', 'lonely', '--image=nginx');
    await server.kube.bind({ name: 'lonely', namespace: 'default' }, 'n1');
    const draining = kubectl('drain', 'n1', '--force', '--timeout=60s');
    const abort = new AbortController();
    for await (const event of server.kube.watch(Kinds.Pod, {
      fieldSelector: 'metadata.name=lonely',
      signal: abort.signal,
    })) {
      if (event.type === 'BOOKMARK' || event.object.metadata.deletionTimestamp === undefined) continue;
      abort.abort();
    }
    await server.kube.delete(Kinds.Pod, { name: 'lonely', namespace: 'default' }, { gracePeriodSeconds: 0 });
    expect(await draining).toContain('node/n1 drained');
    expect(await kubectl('get', 'node', 'n1', '--no-headers')).toMatch(/^n1 +Ready,SchedulingDisabled +<none>/);
  });

  it('watches as a table', async () => {
    const watching = spawn('kubectl', ['get', 'pods', '-w', '--no-headers'], { env: environment() });
    let shown = '';
    const ended = new Promise((resolve) => watching.once('close', resolve));
    const seen = (pattern: RegExp): Promise<void> =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (pattern.test(shown)) resolve();
        };
        watching.stdout.on('data', look);
        watching.once('close', () =>
          reject(new Error(`kubectl ended before ${String(pattern)} was seen in:\n${shown}`)),
        );
        look();
      });
    watching.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    await kubectl('run', 'seen', '--image=nginx');
    await seen(/^seen +0\/1 +Pending +0 +\d+s$/m);
    const status = {
      phase: 'Running',
      containerStatuses: [
        { name: 'seen', ready: true, restartCount: 0, image: 'nginx', imageID: '', state: { running: {} } },
      ],
    };
    await server.kube.patch(
      Kinds.Pod,
      { name: 'seen', namespace: 'default' },
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    );
    await seen(/^seen +1\/1 +Running +0 +\d+s$/m);
    watching.kill();
    await ended;
    expect(shown.match(/^seen /gm)?.length).toBe(2);
  });

  it('waits for the deletion of an object with finalizers', async () => {
    await kubectl('create', 'configmap', 'held', '--from-literal=a=b');
    await kubectl('patch', 'configmap', 'held', '--type=merge', '-p', '{"metadata":{"finalizers":["test/hold"]}}');
    const deleting = kubectl('delete', 'configmap', 'held', '--wait', '--timeout=60s');
    await kubectl('wait', '--for=jsonpath={.metadata.deletionTimestamp}', 'configmap/held', '--timeout=60s');
    await kubectl('patch', 'configmap', 'held', '--type=json', '-p', '[{"op":"remove","path":"/metadata/finalizers"}]');
    expect(await deleting).toContain('configmap "held" deleted');
    await kubectl('delete', 'nodepools', '--all');
    expect(await kubectl('get', 'nodepools', '-o', 'name')).toBe('');
  });

  it('deletes a namespace with everything in it', async () => {
    await kubectl('create', 'namespace', 'team');
    await kubectl('-n', 'team', 'create', 'secret', 'generic', 's', '--from-literal=a=b');
    expect(await kubectl('delete', 'namespace', 'team')).toContain('namespace "team" deleted');
    expect((await run('get', 'namespace', 'team')).stderr).toContain('namespaces "team" not found');
  });
});
