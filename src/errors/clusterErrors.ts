import { entry } from './errorEntry.ts';

/** Errors in talking to the Kubernetes API server: configuration, credentials, CRDs. */
export const clusterErrors = {
  InvalidClusterConfig: entry<{ readonly file: string; readonly field: string; readonly problem: string }>({
    exit: 'failure',
    about: 'The kubeconfig, or the service account that Kubernetes mounts into a pod, cannot be used as it is.',
    where: ({ file, field }) => (field === '' ? file : `${file}: ${field}`),
    what: ({ problem }) => problem,
    remedy: () => 'correct it, or choose another with KUBECONFIG or --kubeconfig',
    example: { file: 'config', field: 'clusters["a"].cluster.server', problem: 'required, but missing' },
  }),
  CredentialPluginFailed: entry<{ readonly command: string; readonly problem: string; readonly hint?: string }>({
    exit: 'failure',
    about: 'The exec plug-in that the kubeconfig names gave no credentials.',
    what: ({ command, problem }) => `exec plug-in ${command} ${problem}`,
    remedy: ({ command, hint }) => hint ?? `run ${command} by hand and correct what it reports`,
    example: { command: 'kubelogin', problem: 'is not installed or not on PATH' },
  }),
  CredentialFileUnreadable: entry<{ readonly file: string; readonly problem: string }>({
    exit: 'failure',
    about: 'A token or certificate file that the cluster configuration names cannot be read.',
    where: ({ file }) => file,
    what: ({ problem }) => `cannot read these credentials: ${problem}`,
    remedy: () => 'check that the file exists and that this process may read it',
    example: { file: '/var/run/secrets/kubernetes.io/serviceaccount/token', problem: 'permission denied' },
  }),
  ClusterRefusesCredentials: entry<{ readonly server: string; readonly problem: string }>({
    exit: 'failure',
    about: 'The API server answered 401: it does not accept the token or certificate.',
    where: ({ server }) => server,
    what: ({ problem }) => `the API server refuses these credentials: ${problem}`,
    remedy: () => 'renew the token or certificate, or choose another context',
    example: { server: 'https://10.0.0.1:443', problem: 'Unauthorized' },
  }),
  ClusterUnreachable: entry<{ readonly server: string; readonly problem: string }>({
    exit: 'failure',
    about: 'The API server could not be reached when the controller started.',
    where: ({ server }) => server,
    what: ({ problem }) => `cannot reach the API server: ${problem}`,
    remedy: () => 'check the address, the network and the proxy settings',
    example: { server: 'https://10.0.0.1:443', problem: 'connect ECONNREFUSED 10.0.0.1:443' },
  }),
  MissingCrds: entry<{ readonly crds: readonly string[] }>({
    exit: 'failure',
    about: 'The API server does not serve the custom resources that the controller needs.',
    what: ({ crds }) => `the API server does not serve ${crds.join(', ')}`,
    remedy: () => 'install the CRDs with: nodewright crds | kubectl apply --server-side -f -',
    example: { crds: ['nodepools.karpenter.sh'] },
  }),
  ClusterUnreadable: entry<{ readonly problem: string }>({
    exit: 'failure',
    about: 'A command that reads a cluster could not read everything within a minute.',
    what: ({ problem }) => `cannot read the cluster: ${problem}`,
    remedy: () =>
      'check that your user may list pods, nodes, volumes, NodePools and NodeClaims (`kubectl auth can-i list …`)',
    example: { problem: 'pods is forbidden' },
  }),
  ObjectNotFound: entry<{ readonly kind: string; readonly name: string; readonly namespace?: string }>({
    exit: 'failure',
    about: 'The object that a command was asked about is not in the cluster.',
    where: ({ kind, name }) => `${kind}/${name}`,
    what: ({ namespace }) => (namespace === undefined ? 'not found' : `not found in namespace ${namespace}`),
    remedy: ({ kind, namespace }) =>
      namespace === undefined
        ? `list the existing ones with \`kubectl get ${kind}\``
        : `name another namespace with -n; \`kubectl get ${kind} -A\` lists all`,
    example: { kind: 'pod', name: 'web-1', namespace: 'default' },
  }),
  ServerVersionUnknown: entry<Record<never, never>>({
    exit: 'failure',
    about: 'The API server does not report its version, which node images and bootstrapping depend on.',
    what: () => 'the API server does not report its version',
    remedy: () => 'check that `kubectl get --raw /version` has a gitVersion',
    example: {},
  }),
  NodePoolGone: entry<{ readonly nodePool: string }>({
    exit: 'failure',
    about: 'A NodePool was deleted between the plan and the creation of its NodeClaims.',
    where: ({ nodePool }) => `NodePool ${nodePool}`,
    what: () => 'it was deleted or replaced since the plan was made',
    remedy: () => 'nothing; the pods are planned again in the next pass',
    example: { nodePool: 'default' },
  }),
  NodePoolLimitReached: entry<{ readonly nodePool: string; readonly resources: readonly string[] }>({
    exit: 'failure',
    about: 'A NodePool reached its limits between the plan and the creation of its NodeClaims.',
    where: ({ nodePool }) => `NodePool ${nodePool}`,
    what: ({ resources }) => `spec.limits of ${resources.join(', ')} are reached`,
    remedy: () => 'raise spec.limits, or allow other NodePools for these pods',
    example: { nodePool: 'default', resources: ['cpu'] },
  }),
  InvalidDeadline: entry<{ readonly nodeClaim: string; readonly annotation: string; readonly text: string }>({
    exit: 'failure',
    about: 'The annotation with the moment at which a node must be empty is not a time. Its drain waits.',
    where: ({ nodeClaim, annotation }) => `NodeClaim ${nodeClaim}: metadata.annotations["${annotation}"]`,
    what: ({ text }) => `"${text}" is not a time`,
    remedy: () => 'remove the annotation, or set it to a time such as 2026-01-31T12:00:00Z',
    example: { nodeClaim: 'default-abc12', annotation: 'karpenter.sh/nodeclaim-termination-timestamp', text: 'soon' },
  }),
  RegistrationHookFailed: entry<{ readonly nodeClaim: string; readonly hook: string }>({
    exit: 'failure',
    about: 'A check that must pass before a Node is registered failed. It is repeated; the log has the cause.',
    where: ({ nodeClaim }) => `NodeClaim ${nodeClaim}`,
    what: ({ hook }) => `registration hook ${hook} failed`,
    remedy: () => 'see the cause in the log',
    example: { nodeClaim: 'default-abc12', hook: 'DaemonSetsReady' },
  }),
};
