/** `describe`, for every kind that has words of its own there. */
import { apply, commands, run, set, type Case } from './command.ts';
import { CONFIG_MAP, DEFINITION, DEPLOYMENT } from './manifests.ts';
import * as more from './moreManifests.ts';

const event = (kind: string, name: string, apiVersion: string): string => `apiVersion: v1
kind: Event
metadata: {name: ${name}.1}
involvedObject: {apiVersion: ${apiVersion}, kind: ${kind}, name: ${name}, namespace: NS}
reason: Happened
message: something happened
type: Normal
count: 1
source: {component: controller}
firstTimestamp: "2024-01-01T00:00:00Z"
lastTimestamp: "2024-01-01T00:00:00Z"
`;

export const describingCases: readonly Case[] = [
  commands(
    'describe a rich pod',
    apply(more.RICH_POD),
    run('describe pod rich'),
    run('get pod rich -o yaml'),
    run('describe pod rich --show-events=false'),
  ),
  commands(
    'describe pods in every state',
    ...more.PODS,
    run('describe pods'),
    run('describe pods -l app=none'),
    run('describe pod half'),
  ),
  commands('describe a stateful set', apply(more.STATEFUL_SET), run('describe sts db')),
  commands('describe a daemon set', apply(more.DAEMON_SET), run('describe ds agent')),
  commands('describe a replica set', apply(more.REPLICA_SET), run('describe rs set')),
  commands('describe a replication controller', apply(more.REPLICATION_CONTROLLER), run('describe rc old')),
  commands('describe a job', apply(more.JOB), run('describe job work')),
  commands('describe a cron job', apply(more.CRON_JOB), run('describe cj nightly')),
  commands(
    'describe services',
    apply(more.SERVICES),
    apply(more.ENDPOINT_SLICE),
    run('describe svc lb'),
    run('describe svc headless outside ported'),
  ),
  commands('describe ingresses', apply(more.INGRESSES), run('describe ing edge'), run('describe ing catch-all')),
  commands('describe a network policy', apply(more.NETWORK_POLICY), run('describe netpol fence')),
  commands('describe a claim', apply(more.CLAIM), run('describe pvc data')),
  commands('describe a volume', apply(more.VOLUME), run('describe pv NS-pv')),
  commands('describe a storage class', apply(more.STORAGE_CLASS), run('describe sc NS-fast')),
  commands(
    'describe an autoscaler',
    apply(DEPLOYMENT),
    apply(more.AUTOSCALER),
    run('describe hpa web'),
    run('get hpa.v1.autoscaling web -o yaml'),
    run('get hpa web -o yaml'),
  ),
  commands('describe budgets', apply(more.BUDGETS), run('describe pdb least'), run('describe pdb most')),
  commands(
    'describe limits',
    apply(more.LIMITS),
    run('describe limits limits', { sorted: true }),
    run('describe ns NS', { sorted: true }),
  ),
  commands(
    'describe a quota',
    apply(more.QUOTA),
    set(`wait quota quota --for=jsonpath='{.status.used.pods}'=0 --timeout=20s`),
    run('describe quota quota'),
    run('describe ns NS'),
  ),
  commands('describe a lease', apply(more.LEASE), run('describe lease leader')),
  commands('describe a slice', apply(more.ENDPOINT_SLICE), run('describe endpointslice web-1')),
  commands('describe a runtime class', apply(more.RUNTIME_CLASS), run('describe runtimeclass NS-kata')),
  commands('describe a full node', apply(more.FULL_NODE), run('describe node NS-full')),
  commands(
    'describe a definition',
    apply(DEFINITION),
    set('wait crd NS-gadgets.NS.example.com --for=condition=Established'),
    run('describe crd NS-gadgets.NS.example.com'),
  ),
  commands(
    'describe a priority class',
    run('describe pc system-node-critical --show-events=false', { quiet: true }),
    set('create priorityclass NS-high --value=1000 --description=important --preemption-policy=Never'),
    run('describe pc NS-high'),
  ),
  commands(
    'describe roles',
    set('create role reader --verb=get,list,watch --resource=pods,pods/log --resource-name=a'),
    set('create rolebinding readers --role=reader --user=jane --group=devs --serviceaccount=NS:default'),
    set('create clusterrole NS-raw --verb=get --non-resource-url=/logs/*'),
    set('create clusterrolebinding NS-raw --clusterrole=NS-raw --user=jane'),
    run('describe role reader'),
    run('describe rolebinding readers'),
    run('describe clusterrole NS-raw'),
    run('describe clusterrolebinding NS-raw'),
    run('get role reader -o yaml'),
    run('get rolebinding readers -o yaml'),
    run('get rolebinding readers -o wide'),
    run('get clusterrolebinding NS-raw -o wide'),
  ),
  commands(
    'describe with events',
    apply(DEPLOYMENT),
    apply(event('Deployment', 'web', 'apps/v1')),
    run('describe deploy web'),
  ),
  commands(
    'describe several',
    apply(`${DEPLOYMENT}---\n${CONFIG_MAP}`),
    run('describe deploy/web cm/settings'),
    run('describe deploy,cm'),
    run('describe -f -', { input: CONFIG_MAP }),
    run('describe'),
    run('describe nothing'),
    run('describe pods none'),
  ),
  commands(
    'describe by prefix',
    set('create cm abc-1 --from-literal=a=b'),
    set('create cm abc-2 --from-literal=a=b'),
    run('describe cm abc'),
    run('describe cm abd'),
  ),
  commands(
    'describe a webhook',
    apply(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NS-hook}
webhooks:
  - {name: a.example.com, admissionReviewVersions: [v1], sideEffects: None, clientConfig: {url: "https://example.com/x"}, rules: [{apiGroups: [NS.example.org], apiVersions: [v1], operations: [CREATE], resources: [things]}]}
`),
    run('describe validatingwebhookconfiguration NS-hook'),
    run('get validatingwebhookconfiguration NS-hook'),
    run('get validatingwebhookconfiguration NS-hook -o yaml'),
    set('delete validatingwebhookconfiguration NS-hook'),
  ),
  commands(
    'describe an event and an account',
    apply(more.EVENTS),
    run('describe event second'),
    set('create sa robot'),
    run('describe sa robot'),
    run('describe secret none'),
  ),
  commands(
    'describe a csi node',
    apply(`apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: NS-csi}
spec: {drivers: [{name: disk.csi.azure.com, nodeID: x, topologyKeys: [topology.disk.csi.azure.com/zone], allocatable: {count: 4}}]}
`),
    run('describe csinode NS-csi'),
    run('get csinode NS-csi'),
    run('get csinode NS-csi -o yaml'),
  ),
  commands(
    'describe an ingress class',
    apply(
      'apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: NS-class}\nspec: {controller: example.com/x, parameters: {apiGroup: k8s.example.com, kind: P, name: p}}\n',
    ),
    run('describe ingressclass NS-class'),
    run('get ingressclass NS-class'),
  ),
];
