/**
 * Commands of the pages that test/clients/pages.test.ts does not run, each with the reason and the test that covers a
 * similar one.
 */
interface RunElsewhere {
  readonly commands: RegExp;
  readonly reason: string;
  /** A file of the repository. */
  readonly heldBy: string;
}

export const RUN_ELSEWHERE: readonly RunElsewhere[] = [
  {
    commands: /^npm (test|ci|run)\b/,
    reason: 'they are the suites themselves',
    heldBy: '.ci/run',
  },
  {
    commands: /^npm start\b/,
    reason: 'each is a world of its own, and would run until it is stopped',
    heldBy: 'test/thread/up.test.ts',
  },
  {
    commands: /^npx nodewright up\b/,
    reason: 'the same; the commands run against such a world',
    heldBy: 'test/fixtures/local/upProcess.ts',
  },
  {
    commands: /^kubectl .*port-forward/,
    reason: 'pods of the local AKS have no ports; the page itself is served on a port in a test',
    heldBy: 'src/server/clusterTokens.test.ts',
  },
  {
    commands: /^curl .*\n? *'http:\/\/localhost:8080\/debug\/pprof\//,
    reason: 'it asks a port that the command before it would forward; the same profile is taken in a test',
    heldBy: 'src/server/servers.test.ts',
  },
  {
    commands: /^az role (definition|assignment) create/,
    reason: "these commands of Debian's azure-cli fail in their own code; the same roles are made through the SDK",
    heldBy: 'src/aks/enable.test.ts',
  },
  {
    commands: /^helm /,
    reason: 'helm is built with Go, which only the end-to-end tests need',
    heldBy: 'test/e2e/helm.test.ts',
  },
  {
    commands: /^nodewright (kubelet-sim|run) |^kubectl apply -f - <<'YAML'\napiVersion: karpenter\.kwok\.sh/,
    reason: 'they run until they are stopped, on a cluster without another nodewright',
    heldBy: 'test/e2e/kwok/kwokCluster.ts',
  },
  {
    commands: /^jq -c .*\/var\/lib\/nodewright\/ledger/,
    reason: 'it reads a folder of the pod',
    heldBy: 'src/server/ledgerFiles.test.ts',
  },
];
