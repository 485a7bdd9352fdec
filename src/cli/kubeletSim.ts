/** `nodewright kubelet-sim`: simulates kubelets for Nodes without an instance. */
import { Command, InvalidArgumentError } from 'commander';
import { Duration } from '../units/duration.ts';
import { runUntilStopped } from './stopSignals.ts';

interface Flags {
  readonly kubeconfig?: string;
  readonly selector: string;
  readonly readyDelay: number;
  readonly podStartDelay: number;
  readonly podStopDelay?: number;
}

export function kubeletSimCommand(): Command {
  return new Command('kubelet-sim')
    .description(
      'Simulates the kubelets of Nodes that have no instance, on any cluster: such Nodes become Ready, renew their leases and run the pods that are bound to them. Together with `nodewright run --cloud-provider kwok` it shows node auto provisioning without a cloud.',
    )
    .allowExcessArguments(false)
    .option('--kubeconfig <path>', 'kubeconfig of the cluster; without it, as kubectl finds it')
    .option('--selector <labels>', 'which Nodes to simulate', 'kwok.x-k8s.io/node=fake')
    .option('--ready-delay <duration>', 'from the creation of a Node until it is Ready', parseDuration, 0)
    .option('--pod-start-delay <duration>', 'from the binding of a pod until it runs', parseDuration, 0)
    .option(
      '--pod-stop-delay <duration>',
      'from the deletion of a pod until it is gone; by default pods take their whole grace period',
      parseDuration,
    )
    .action(async (flags: Flags) => {
      const { runKubeletSim } = await import('./compose/kubeletSim.ts');
      const { kubeconfig, selector, readyDelay, podStartDelay, podStopDelay } = flags;
      const pace = {
        boot: 0,
        ready: readyDelay,
        podStart: podStartDelay,
        podStop: podStopDelay ?? Number.POSITIVE_INFINITY,
      };
      await runUntilStopped((signal) => runKubeletSim({ ...(kubeconfig && { kubeconfig }), selector, pace }, signal));
    });
}

function parseDuration(text: string): number {
  const duration = Duration.tryParse(text);
  if (duration === undefined || duration.milliseconds < 0) {
    throw new InvalidArgumentError('write a duration such as 500ms, 2s or 1m.');
  }
  return duration.milliseconds;
}
