/** The first output of `up`: where the cluster is, and what to try. */
import { buildInfo } from '../buildInfo.ts';
import type { UpOptions } from './contract.ts';

export interface Addresses {
  /** Absolute paths, so that they work from any directory. */
  readonly kubeconfig: string;
  readonly azureEnvironment: string;
  readonly log: string;
  readonly kubernetes: string;
  readonly azure: string;
  readonly metrics: string;
  /** With a one-time token. */
  readonly dashboard: string;
}

/** Twelve pods that need several nodes; the same lines as in the README. */
const TRY = [
  'kubectl create deployment hello --image=nginx --replicas=12',
  'kubectl set resources deployment hello --requests=cpu=900m,memory=1Gi',
  'kubectl get nodes --watch -L node.kubernetes.io/instance-type,topology.kubernetes.io/zone',
];

export function titleOf({ scenario, profile, speed }: UpOptions, { kubernetes }: Addresses): string {
  const words = [`nodewright ${buildInfo().version}`, scenario, profile, ...(speed === 1 ? [] : [`×${speed}`])];
  return [...words, kubernetes].join(' · ');
}

/** The lines below the live view. */
export function hintsOf({ kubeconfig, metrics, dashboard }: Addresses): readonly string[] {
  return [
    `export KUBECONFIG=${kubeconfig}`,
    ...TRY.slice(0, 2),
    `dashboard: ${dashboard}`,
    `npx nodewright fault --help   metrics: ${metrics}`,
    'Ctrl-C stops everything; the next start goes on from there (not with --fresh)',
  ];
}

/** `since`: start of a resumed world. */
export function greetingOf(options: UpOptions, addresses: Addresses, since: string | undefined): string {
  const { scenario, profile } = options;
  const { kubeconfig, azureEnvironment, log, kubernetes, azure, metrics, dashboard } = addresses;
  return [
    `nodewright ${buildInfo().version}: a local AKS is up at ${kubernetes} (scenario ${scenario}, profile ${profile})`,
    ...(since === undefined ? [] : [`The world that began at ${since} goes on; --fresh would start anew.`]),
    '',
    `  export KUBECONFIG=${kubeconfig}`,
    ...TRY.map((command) => `  ${command}`),
    '  npx nodewright fault --help',
    '',
    `Dashboard: ${dashboard}`,
    '           (opens once; `npx nodewright dashboard` prints the next address)',
    `Azure:     ${azure} (its client secret and certificate: source ${azureEnvironment})`,
    `Metrics:   ${metrics}`,
    `Log:       ${log}`,
    'Ctrl-C stops everything.',
    '',
  ].join('\n');
}
