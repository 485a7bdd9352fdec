import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseYamlDocuments } from '../api/yaml/parseYaml.ts';

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command as a user does, in a process of its own with nothing but the given variables. */
function nodewright(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/nodewright.ts', ...args], {
      env: { PATH: process.env['PATH'], ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

describe('nodewright', () => {
  it('prints everything also to a reader that takes its time', async () => {
    // A pipe of a shell holds less than half of the text.
    const pipeline = `"${process.execPath}" --import tsx src/cli/nodewright.ts crds | (sleep 8; wc -c)`;
    const { stdout } = await promisify(execFile)('sh', ['-c', pipeline]);
    expect(Number(stdout)).toBe(Buffer.byteLength((await nodewright(['crds'])).stdout));
  });

  it('shows its verbs', async () => {
    const outcome = await nodewright(['--help']);
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(outcome.stdout).toMatchInlineSnapshot(`
      "Usage: nodewright <verb> [options]

      Node auto provisioning for Azure Kubernetes Service: the cheapest nodes that run
      your pods.

      Options:
        -V, --version  print the version
        -h, --help     show this help

      Verbs:
        up             run a whole AKS with node auto provisioning on this machine
        fault          inject faults into the AKS that \`up\` runs
        dashboard      print the address of the dashboard that \`up\` serves
        az             run the Azure CLI against the Azure that \`up\` runs
        run            run the controller in a cluster
        kubelet-sim    simulate the kubelets of kwok nodes on any cluster
        plan           show which nodes manifests would need, and what they cost
        explain        say why a pod waits or a node stays, and what would change that
        doctor         look for the known traps of pools, budgets and workloads
        cost           say what the nodes cost, what for, and what holds savings
        top            show every node with its load, price and status, live
        calendar       say when nodes may be disrupted, and how many
        snapshot       save what the controller reads of a cluster as a file
        replay         say what the controller decides about a saved cluster
        catalog        print the instance types and prices that plans use
        crds           print the custom resource definitions
        aks            bring nodewright into an AKS cluster, or take it out
        convert        turn NodePools of another cloud into those for Azure
        migrate        move a cluster here from another autoscaler or way to run
        completion     print a script that lets a shell complete commands
        version        print version, commit and platform
        help [verb]    show the help of a verb
      "
    `);
    expect(await nodewright([])).toEqual(outcome);
    expect(await nodewright(['help', '--help'])).toEqual(outcome);
  });

  it.each([
    [['help', 'crd'], "nodewright: unknown command 'crd'; see `nodewright --help` [InvalidUsage]\n"],
    [['crd'], "nodewright: unknown command 'crd' (Did you mean crds?); see `nodewright --help` [InvalidUsage]\n"],
    [
      ['catalog', 'export', '--nope'],
      "nodewright: unknown option '--nope'; see `nodewright catalog export --help` [InvalidUsage]\n",
    ],
    [
      ['--hepl'],
      "nodewright: unknown option '--hepl' (Did you mean --help?); see `nodewright --help` [InvalidUsage]\n",
    ],
    [
      ['up', '--port', 'x'],
      "nodewright: option '--port <port>' argument 'x' is invalid. It is not a whole number; allowed is a port from 1 to 65535, or 0 for any free one; see `nodewright up --help` [InvalidUsage]\n",
    ],
    [
      ['up', '--scenario', 'loud'],
      "nodewright: option '--scenario <name>' argument 'loud' is invalid. Allowed choices are quiet, black-friday, batch-night, streaming-surge, spot-storm, quota-wall; see `nodewright up --help` [InvalidUsage]\n",
    ],
    [
      ['up', '--fault', 'throttle for=soon'],
      "nodewright: option '--fault <fault>' argument 'throttle for=soon' is invalid. throttle for: \"soon\" is not a duration such as 30s or 10m; see `nodewright up --help` [InvalidUsage]\n",
    ],
    [
      ['fault', 'throttle', 'share=2'],
      'nodewright: throttle share: "2" is not a share from 0 to 1; see `nodewright fault --help` for the faults and their parameters [InvalidFault]\n',
    ],
    [
      ['version', '-o', 'xml'],
      "nodewright: option '-o, --output <format>' argument 'xml' is invalid. Allowed choices are text, json; see `nodewright version --help` [InvalidUsage]\n",
    ],
    [
      ['convert'],
      'nodewright: nothing to convert; name manifests with -f, or - for standard input [NothingToConvert]\n',
    ],
    [
      ['migrate', 'cluster-autoscaler', '-f', join(import.meta.dirname, '../../package.json')],
      `nodewright: ${join(import.meta.dirname, '../../package.json')}: this is not a usable cluster: it is not what \`az aks show -o json\` prints; correct the cluster and run again [FileInvalid]\n`,
    ],
    [
      ['aks', 'status', '-g', '', '-n', 'shop'],
      "nodewright: option '-g, --resource-group <group>' argument '' is invalid. It is empty; see `nodewright aks status --help` [InvalidUsage]\n",
    ],
    [
      ['migrate', 'cluster-autoscaler'],
      'nodewright: name a file with -f, or a cluster with --resource-group and --name; see `nodewright migrate cluster-autoscaler --help` [InvalidUsage]\n',
    ],
    [
      ['crds', 'pods'],
      'nodewright: there is no kind "pods"; choose from aksnodeclasses, capacitybuffers, kwoknodeclasses, nodeclaims, nodeoverlays, nodepools [UnknownKinds]\n',
    ],
  ])('refuses %j in one line', async (args, stderr) => {
    expect(await nodewright(args)).toEqual({ code: 2, stdout: '', stderr });
  });

  it('prints its version', async () => {
    const { stdout } = await nodewright(['version', '-o', 'json']);
    const facts = JSON.parse(stdout) as { version: string };
    expect(facts).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/) as unknown,
      commit: 'unknown',
      node: process.version,
      platform: `${process.platform}/${process.arch}`,
    });
    expect((await nodewright(['--version'])).stdout).toBe(`${facts.version}\n`);
  });
});

describe('commands of a local world', () => {
  it.each([
    ['control', 'null', ['fault', '--list']],
    ['dashboard.url', '', ['dashboard']],
    ['azure.env', '', ['aks', 'status', '-g', 'a', '-n', 'b']],
  ])('say that none runs where %s is torn', async (name, text, args) => {
    const folder = await mkdtemp(join(tmpdir(), 'nodewright-torn-'));
    await writeFile(join(folder, name), text);
    expect(await nodewright([...args, '--state-dir', folder])).toEqual({
      code: 1,
      stdout: '',
      stderr: `nodewright: ${folder}: no local world runs there; start one with \`nodewright up\`, or give its --state-dir [NoLocalWorld]\n`,
    });
    await rm(folder, { recursive: true });
  });
});

describe('nodewright crds', () => {
  it('prints each definition as a YAML document', async () => {
    const { code, stdout } = await nodewright(['crds']);
    expect(code).toBe(0);
    const crds = parseYamlDocuments(stdout) as readonly { readonly metadata: { readonly name: string } }[];
    const names = crds.map(({ metadata }) => metadata.name);
    expect(names).toEqual([
      'aksnodeclasses.karpenter.azure.com',
      'capacitybuffers.autoscaling.x-k8s.io',
      'kwoknodeclasses.karpenter.kwok.sh',
      'nodeclaims.karpenter.sh',
      'nodeoverlays.karpenter.sh',
      'nodepools.karpenter.sh',
    ]);
  });

  it('prints chosen ones as JSON', async () => {
    const { stdout } = await nodewright(['crds', 'NodePool', 'nodeclaims', '-o', 'json']);
    const list = JSON.parse(stdout) as { kind: string; items: { metadata: { name: string } }[] };
    expect([list.kind, ...list.items.map((item) => item.metadata.name)]).toEqual([
      'List',
      'nodeclaims.karpenter.sh',
      'nodepools.karpenter.sh',
    ]);
  });
});

describe('nodewright run', () => {
  const environment = {
    CLUSTER_NAME: 'cluster',
    CLUSTER_ENDPOINT: 'https://localhost:6443',
    KUBELET_BOOTSTRAP_TOKEN: 'abcdef.0123456789abcdef',
    AZURE_SUBSCRIPTION_ID: 'subscription',
    LOCATION: 'westeurope',
    AZURE_NODE_RESOURCE_GROUP: 'group',
    SSH_PUBLIC_KEY: 'ssh-ed25519 AAAA',
  };

  it('explains its options, and shows no secret', async () => {
    const { code, stdout } = await nodewright(['run', '--help'], environment);
    expect(code).toBe(0);
    expect(stdout).not.toContain(environment.KUBELET_BOOTSTRAP_TOKEN);
    await expect(stdout).toMatchFileSnapshot('run.help.txt');
  });

  it('lists all mistakes at once', async () => {
    const args = ['run', '--metrics-port', '-1', '-health-probe-port=x', '--enable-profiling', '--use-sig=maybe'];
    expect(await nodewright(args, { ...environment, BATCH_MAX_DURATION: 'soon' })).toEqual({
      code: 2,
      stdout: '',
      stderr: `nodewright: 5 options are wrong:
  --vnet-subnet-id (VNET_SUBNET_ID): is required; allowed is /subscriptions/<id>/resourceGroups/<group>/providers/Microsoft.Network/virtualNetworks/<network>/subnets/<subnet>
  --use-sig: "maybe" is not a yes-or-no value; allowed is true or false
  BATCH_MAX_DURATION: "soon" cannot be read; allowed is a duration such as 300ms, 10s or 1m30s, at least 0s
  --metrics-port: "-1" is too small; allowed is a port from 1 to 65535, or 0 for any free one
  --health-probe-port: "x" is not a whole number; allowed is a port from 1 to 65535, or 0 for any free one
see \`nodewright run --help\` for every option [InvalidOptions]
`,
    });
  });

  it('says what is wrong with a file or with credentials, and what to do', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'nodewright-run-'));
    const server = createServer((_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ kind: 'Status', code: 401, reason: 'Unauthorized', message: 'Unauthorized' }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    const kubeconfig = join(folder, 'config');
    const config = {
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      clusters: [{ name: 'a', cluster: { server: url } }],
      users: [{ name: 'a', user: { token: 'wrong' } }],
    };
    await writeFile(kubeconfig, JSON.stringify(config));
    const run = ['run', '--cloud-provider', 'kwok', '--metrics-port', '0', '--health-probe-port', '0'];
    const noFile = await nodewright([...run, '--instance-types-file-path', '/nope'], { KUBECONFIG: kubeconfig });
    expect(noFile).toMatchObject({
      code: 2,
      stderr:
        'nodewright: /nope: cannot read this instance-type file: there is no such file; give the path of a file that this process may read [FileUnreadable]\n',
    });
    expect(await nodewright(run, { KUBECONFIG: kubeconfig })).toMatchObject({
      code: 1,
      stderr: `nodewright: ${url}: the API server refuses these credentials: Unauthorized; renew the token or certificate, or choose another context [ClusterRefusesCredentials]\n`,
    });
    server.close();
    await rm(folder, { recursive: true });
  });

  it('suggests a similar flag', async () => {
    expect(await nodewright(['run', '--metric-port', '1'])).toEqual({
      code: 2,
      stdout: '',
      stderr:
        "nodewright: unknown option '--metric-port' (Did you mean --metrics-port?); see `nodewright run --help` [InvalidUsage]\n",
    });
  });
});
