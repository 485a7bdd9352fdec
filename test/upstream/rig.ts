/** Everything that Karpenter's suite expects to find: a control plane, our CRDs, the controller and played kubelets. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { renderCrds } from '../../src/api/crds.ts';
import { startControlPlane, type ControlPlane } from '../controlplane/controlPlane.ts';
import { freeLoopbackPort } from '../controlplane/loopbackPort.ts';

export interface Rig {
  readonly plane: ControlPlane;
  /** Says which of our programs has ended without being asked to. */
  casualty(): string | undefined;
  stop(): Promise<void>;
}

/** Where the rig finds the programs, and where their output goes. */
interface RigOptions {
  readonly nodewright: string;
  /** Karpenter's own kwok controller, which then runs in the place of ours. */
  readonly peer?: string | undefined;
  readonly logDirectory: string;
}

/** Those that upstream's own runs of the suite have on. */
const FEATURE_GATES = 'NodeRepair=true,StaticCapacity=true,CapacityBuffer=true';
const STOP_GRACE_MILLISECONDS = 20_000;

export async function startRig({ nodewright, peer, logDirectory }: RigOptions): Promise<Rig> {
  const plane = await startControlPlane({
    scheduler: true,
    controllerManager: true,
    // Kubelets here are only played; no other controller should judge them.
    controllerManagerControllers: ['*', '-node-lifecycle-controller'],
  });
  const programs = new Map<string, ChildProcess>();
  const start = (name: string, executable: string, args: readonly string[]): void => {
    const log = openSync(join(logDirectory, `${name}.log`), 'a');
    const env = { ...process.env, KUBECONFIG: plane.adminKubeconfig };
    programs.set(name, spawn(executable, args, { env, stdio: ['ignore', log, log] }));
    closeSync(log);
  };
  // The control plane sees to its own end when this process dies; our programs would stay.
  const killAll = (): void => {
    for (const program of programs.values()) program.kill('SIGKILL');
  };
  process.once('exit', killAll);
  const stop = async (): Promise<void> => {
    process.off('exit', killAll);
    await Promise.all([...programs.values()].map(end));
    await plane.stop();
  };
  try {
    await installCrds(plane);
    const [metrics, health] = [await freeLoopbackPort(), await freeLoopbackPort()];
    const flags = [
      '--leader-election-namespace=kube-system',
      `--feature-gates=${FEATURE_GATES}`,
      `--metrics-port=${metrics}`,
      `--health-probe-port=${health}`,
    ];
    start('kubelet-sim', process.execPath, [nodewright, 'kubelet-sim']);
    if (peer === undefined) start('run', process.execPath, [nodewright, 'run', '--cloud-provider=kwok', ...flags]);
    else start('karpenter', peer, flags);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    plane,
    casualty: () => [...programs].find(([, program]) => hasEnded(program))?.[0],
    stop,
  };
}

async function installCrds(plane: ControlPlane): Promise<void> {
  const crds = renderCrds();
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: crds });
  const names = crds.map(({ metadata }) => `crd/${metadata.name}`);
  for (const answer of [
    await plane.kubectl(['apply', '--server-side', '-f', '-'], { input }),
    await plane.kubectl(['wait', '--for=condition=Established', '--timeout=60s', ...names]),
  ]) {
    if (answer.code !== 0) throw new Error(`The CRDs cannot be installed: ${answer.stderr}`);
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function end(program: ChildProcess): Promise<void> {
  if (hasEnded(program)) return;
  const gone = once(program, 'exit');
  program.kill('SIGTERM');
  const impatience = setTimeout(() => program.kill('SIGKILL'), STOP_GRACE_MILLISECONDS);
  await gone;
  clearTimeout(impatience);
}
