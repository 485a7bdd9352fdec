/** `npm run controlplane`: a real control plane for interactive use. `--build-only` fills the cache and exits. */
import { ensureBinaries } from './binaries.ts';
import { startControlPlane } from './controlPlane.ts';

const known = ['--build-only', '--help'];

async function main(args: readonly string[]): Promise<void> {
  const unknown = args.filter((argument) => !known.includes(argument));
  if (unknown.length > 0) throw new Error(`Unknown argument ${unknown.join(' ')}; there is only --build-only.`);
  if (args.includes('--help')) {
    console.log('Starts etcd, kube-apiserver, kube-scheduler and kube-controller-manager on loopback until Ctrl-C.');
    console.log('  --build-only   build the programs into the cache, if they are not there yet, and end');
    return;
  }
  const binaries = await ensureBinaries((line) => console.error(line));
  console.error(`programs are in ${binaries.directory}`);
  if (args.includes('--build-only')) return;
  // Listens before the process reports that it is up.
  const askedToStop = untilAskedToStop();
  const plane = await startControlPlane({
    scheduler: binaries.scheduler !== undefined,
    controllerManager: binaries.controllerManager !== undefined,
  });
  console.error(`ready at ${plane.server}; logs are in ${plane.workDir}; Ctrl-C stops it`);
  console.log(`export KUBECONFIG=${plane.adminKubeconfig}`);
  await askedToStop;
  await plane.stop();
}

function untilAskedToStop(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
