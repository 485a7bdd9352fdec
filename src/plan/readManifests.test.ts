import { describe, expect, it } from 'vitest';
import { podRequests } from '../pods/podRequests.ts';
import { formatResources } from '../units/resources.ts';
import { planNoteText } from '../ledger/planNoteText.ts';
import { readManifests, type PlanInput } from './readManifests.ts';

const read = (...texts: string[]): PlanInput =>
  readManifests(texts.map((text, index) => ({ source: `${'abc'[index]}.yaml`, text })));
const lines = ({ mistakes }: PlanInput): string[] =>
  mistakes.map(({ source, line, message }) => `${source}:${line}: ${message}`);
const names = ({ pods }: PlanInput): string[] => pods.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

const template = '{ spec: { containers: [{ name: main, resources: { requests: { cpu: 100m } } }] } }';
const workload = (apiVersion: string, kind: string, name: string, spec: string): string =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: { ${spec}, template: ${template} }\n`;

describe('workloads', () => {
  it('have as many pods as they would run at once, numbered from 0', () => {
    const input = read(
      [
        'apiVersion: v1\nkind: Pod\nmetadata: { name: single, namespace: other }\nspec: { containers: [{ name: main }] }\n',
        workload('apps/v1', 'Deployment', 'web', 'replicas: 2'),
        workload('apps/v1', 'StatefulSet', 'data', 'serviceName: data'),
        workload('apps/v1', 'ReplicaSet', 'old', 'replicas: 0'),
        workload('batch/v1', 'Job', 'wide', 'parallelism: 5, completions: 2'),
        workload('batch/v1', 'Job', 'later', 'suspend: true'),
        workload('apps/v1', 'DaemonSet', 'agent', 'minReadySeconds: 0'),
        `apiVersion: batch/v1\nkind: CronJob\nmetadata: { name: nightly }\nspec: { jobTemplate: { spec: { parallelism: 2, template: ${template} } } }\n`,
      ].join('---\n'),
    );
    expect(lines(input)).toEqual([]);
    expect(names(input)).toEqual([
      'other/single',
      'default/web-0',
      'default/web-1',
      'default/data-0',
      'default/wide-0',
      'default/wide-1',
      'default/nightly-0',
      'default/nightly-1',
    ]);
    expect(input.daemons.map(({ metadata }) => metadata.name)).toEqual(['agent']);
  });

  it('have at least the replicas of their autoscaler, wherever it is, and report it', () => {
    const autoscaler = (name: string, target: string, spec: string): string =>
      `apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: { name: ${name} }\nspec: { scaleTargetRef: { apiVersion: apps/v1, kind: ${target.split(' ')[0]}, name: ${target.split(' ')[1]} }, ${spec} }\n`;
    const input = read(
      [
        autoscaler('web', 'Deployment web', 'minReplicas: 3, maxReplicas: 10'),
        autoscaler('few', 'Deployment few', 'maxReplicas: 2'),
        autoscaler('idle', 'Deployment idle', 'minReplicas: 2, maxReplicas: 4'),
        autoscaler('gone', 'Deployment gone', 'minReplicas: 2, maxReplicas: 4'),
        autoscaler('other', 'StatefulSet web', 'minReplicas: 2, maxReplicas: 4'),
        autoscaler('bad', 'Deployment plain', 'minReplicas: 5, maxReplicas: 4'),
        autoscaler('open', 'Deployment plain', 'minReplicas: 5'),
      ].join('---\n'),
      [
        workload('apps/v1', 'Deployment', 'web', 'minReadySeconds: 0'),
        workload('apps/v1', 'Deployment', 'few', 'replicas: 5'),
        workload('apps/v1', 'Deployment', 'idle', 'replicas: 0'),
        workload('apps/v1', 'Deployment', 'plain', 'replicas: 1'),
      ].join('---\n'),
    );
    expect(names(input)).toEqual(
      ['web-0', 'web-1', 'web-2', 'few-0', 'few-1', 'plain-0'].map((name) => `default/${name}`),
    );
    expect(input.notes.map(planNoteText)).toEqual([
      'HorizontalPodAutoscaler web: planned 3 replicas of Deployment web; it may grow to 10.',
      'HorizontalPodAutoscaler few: planned 2 replicas of Deployment few, the most that it allows.',
      'HorizontalPodAutoscaler idle: Deployment idle is set to 0 replicas, which turns autoscaling off.',
      'HorizontalPodAutoscaler gone: Deployment gone is not given; nothing is planned for it.',
      'HorizontalPodAutoscaler other: StatefulSet web is not given; nothing is planned for it.',
    ]);
    expect(lines(input)).toEqual([
      'a.yaml:29: HorizontalPodAutoscaler bad: spec.maxReplicas: 4 is less than minReplicas (5)',
      'a.yaml:34: HorizontalPodAutoscaler open: spec.maxReplicas: Required value',
    ]);
  });

  it('keep pods of different kinds with one name apart', () => {
    const input = read(
      workload('apps/v1', 'Deployment', 'same', 'replicas: 1'),
      workload('apps/v1', 'StatefulSet', 'same', 'replicas: 1'),
    );
    expect(names(input)).toEqual(['default/same-0', 'default/same-statefulset-0']);
  });

  it('request what they limit, as in the API server', () => {
    const { pods } = read(
      'apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec: { containers: [{ name: b, resources: { limits: { cpu: 2, memory: 1Gi }, requests: { cpu: 0.5 } } }] }\n',
    );
    expect(pods.map((pod) => formatResources(podRequests(pod)))).toEqual([{ cpu: '500m', memory: '1Gi', pods: '1' }]);
  });

  it('take ports of the host with its network', () => {
    const { pods } = read(
      'apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec: { hostNetwork: true, containers: [{ name: b, ports: [{ containerPort: 80 }] }] }\n',
    );
    expect(pods[0]?.spec?.containers[0]?.ports).toEqual([{ containerPort: 80, hostPort: 80 }]);
  });

  it('get their priority from classes in any file', () => {
    const pod = (name: string, extra: string): string =>
      `apiVersion: v1\nkind: Pod\nmetadata: { name: ${name} }\nspec: { ${extra} containers: [{ name: b }] }\n`;
    const { pods } = read(
      [pod('a', 'priorityClassName: high,'), pod('b', ''), pod('c', 'priorityClassName: system-node-critical,')].join(
        '---\n',
      ),
      'apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: { name: high }\nvalue: 7\n' +
        '---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: { name: usual }\nvalue: 3\nglobalDefault: true\n',
    );
    expect(pods.map(({ spec }) => spec?.priority)).toEqual([7, 3, 2_000_001_000]);
  });

  it('come out of Lists and JSON, too', () => {
    const input = read(
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: [
          { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one' }, spec: { containers: [{ name: 'main' }] } },
          {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { name: 'gone' },
            spec: { containers: [{ name: 'main' }] },
            status: { phase: 'Succeeded' },
          },
        ],
      }),
      'apiVersion: v1\nkind: PodList\nitems:\n  - metadata: { name: two }\n    spec: { containers: [{ name: main }] }\n',
    );
    expect([...lines(input), ...names(input)]).toEqual(['default/one', 'default/two']);
  });
});

describe('a dump of a live cluster', () => {
  const owned = (kind: string, name: string): string =>
    `ownerReferences: [{ apiVersion: apps/v1, kind: ${kind}, name: ${name}, uid: u, controller: true }]`;
  const pod = (name: string, owner: string): string =>
    `apiVersion: v1\nkind: Pod\nmetadata: { name: ${name}, ${owner} }\nspec: { containers: [{ name: main }] }\n`;
  const replicaSet = `apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: { name: web-5d, ${owned('Deployment', 'web')} }\nspec: { replicas: 2, template: ${template} }\n`;

  it('counts each pod once, through the topmost owner that is given', () => {
    const input = read(
      [
        pod('web-5d-a', owned('ReplicaSet', 'web-5d')),
        pod('web-5d-b', owned('ReplicaSet', 'web-5d')),
        replicaSet,
        workload('apps/v1', 'Deployment', 'web', 'replicas: 2'),
      ].join('---\n'),
    );
    expect(names(input)).toEqual(['default/web-0', 'default/web-1']);
    expect(input.notes.map(planNoteText)).toEqual([
      '3 objects are not counted: planned through the owner in the input.',
    ]);
  });

  it('counts pods whose owner is not given themselves', () => {
    expect(names(read([pod('web-5d-a', owned('ReplicaSet', 'web-5d')), replicaSet].join('---\n')))).toEqual([
      'default/web-5d-0',
      'default/web-5d-1',
    ]);
    expect(names(read(pod('web-5d-a', owned('ReplicaSet', 'web-5d'))))).toEqual(['default/web-5d-a']);
  });

  it('takes one pod of a DaemonSet for the DaemonSet, and no static pods', () => {
    const input = read(
      [
        pod('agent-a', owned('DaemonSet', 'agent')),
        pod('agent-b', owned('DaemonSet', 'agent')),
        pod('kube-proxy-node1', owned('Node', 'node1')),
      ].join('---\n'),
    );
    expect([names(input), input.daemons.map(({ metadata }) => metadata.name)]).toEqual([[], ['agent-a']]);
    expect(input.notes.map(planNoteText)).toEqual(['1 object is left out: static pods of nodes.']);
  });
});

describe('warnings', () => {
  it('name kinds that a plan does not know and kustomizations, and leave the rest alone', () => {
    const { warnings, mistakes } = readManifests([
      { source: 'a.yaml', text: 'apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: thing }\n' },
      { source: 'deploy/kustomization.yaml', text: 'resources: [a.yaml]\n' },
    ]);
    expect(mistakes).toEqual([]);
    expect(warnings.map(({ source, line, message }) => `${source}:${line}: ${message}`)).toEqual([
      'a.yaml:2: Widget (example.com/v1) is not a kind that a plan knows; left out with its pods',
      'deploy/kustomization.yaml:1: a kustomization is not built here; plan what `kustomize build` prints',
    ]);
  });
});

describe('mistakes', () => {
  it('carry the code under which docs/errors.md has them', () => {
    const input = read(
      'just text',
      workload('apps/v1', 'Deployment', 'web', 'replicas: 1'),
      workload('apps/v1', 'Deployment', 'web', 'replicas: 1'),
    );
    expect(input.mistakes.map(({ source, code }) => `${source} ${code}`)).toEqual([
      'a.yaml NotAnObject',
      'c.yaml Repeated',
    ]);
  });

  it('have file and line, and leave the rest alone', () => {
    const input = read(
      `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  template:
    spec:
      containers:
        - name: main
          resources:
            requests:
              memory: 1Gi
              cpu: -1
---
apiVersion: v1
kind: Pod
metadata: { name: good }
spec: { containers: [{ name: main }] }
---
kind: [unclosed
---
apiVersion: example.com/v1
kind: Widget
metadata: { name: thing }
`,
      `apiVersion: v1
kind: Pod
metadata: { name: strange }
spec:
  nodeSelector: { disk: 1 }
  tolerations: everything
  containers:
    - name: main
      resources: { limits: { memory: lots } }
---
just text
---
metadata: { name: nameless }
---
apiVersion: v1
kind: Pod
metadata: { name: good }
spec: { containers: [{ name: main }] }
---
apiVersion: v1
kind: Pod
metadata: {}
spec: { containers: [{ name: main }] }
---
apiVersion: v1
kind: Pod
metadata: { name: hollow }
spec: { containers: [] }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: crowd }
spec: { replicas: 900000000, template: { spec: { containers: [{ name: main }] } } }
---
apiVersion: v1
kind: Service
metadata: { name: no-mistake }
`,
    );
    expect(names(input)).toEqual(['default/good']);
    expect(lines(input)).toMatchInlineSnapshot(`
      [
        "a.yaml:14: Deployment web: spec.template.spec.containers[0].resources.requests.cpu: -1 must not be negative",
        "a.yaml:22: not valid YAML: deficient indentation",
        "b.yaml:5: Pod strange: spec.nodeSelector.disk: Invalid value: "integer": spec.nodeSelector.disk in body must be of type string: "integer"",
        "b.yaml:6: Pod strange: spec.tolerations: Invalid value: "string": spec.tolerations in body must be of type array: "string"",
        "b.yaml:11: this is not a Kubernetes object",
        "b.yaml:13: an object needs apiVersion and kind",
        "b.yaml:17: Pod good already exists, in a.yaml:16",
        "b.yaml:22: Pod ?: metadata.name: Required value",
        "b.yaml:28: Pod hollow: spec.containers: Required value",
        "b.yaml:33: Deployment crowd: 900000000 more pods are too many; a plan takes 200000",
      ]
    `);
  });

  it.each(['', '# nothing', '---\n---\n', '\uFEFF'])('there are none in %j', (text) => {
    expect(lines(read(text))).toEqual([]);
  });

  it('include aliases that multiply', () => {
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x]',
      ...'bcdefghi'.split('').map((name, index) => {
        const before = 'abcdefgh'[index] ?? '';
        return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(',')}]`;
      }),
    ].join('\n');
    expect(lines(read(bomb))).toEqual(['a.yaml:1: not valid YAML: its aliases multiply beyond measure']);
  });
});

describe('pools and classes', () => {
  const pool = (name: string, extra = ''): string => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: ${name} }
spec:
  ${extra}
  template:
    spec:
      nodeClassRef: { group: karpenter.azure.com, kind: AKSNodeClass, name: default }
      requirements:
        - { key: kubernetes.io/arch, operator: In, values: [amd64] }
`;

  it('are completed, and in the order in which the controller uses them', () => {
    const input = read([pool('b'), pool('c', 'weight: 50'), pool('a')].join('---\n'));
    expect(lines(input)).toEqual([]);
    expect(input.pools.map(({ metadata }) => metadata.name)).toEqual(['c', 'b', 'a']);
    expect(input.pools[0]?.spec.disruption.consolidationPolicy).toBe('WhenEmptyOrUnderutilized');
  });

  it('are known in the versions that their CRDs serve', () => {
    const nodeClass = (version: string): string =>
      `apiVersion: karpenter.azure.com/${version}\nkind: AKSNodeClass\nmetadata: { name: ${version} }\nspec: {}\n`;
    const input = read([nodeClass('v1alpha2'), nodeClass('v1beta1'), nodeClass('v9')].join('---\n'));
    expect(input.classes.map(({ metadata, spec }) => [metadata.name, spec?.imageFamily])).toEqual([
      ['v1alpha2', 'Ubuntu'],
      ['v1beta1', 'Ubuntu'],
    ]);
    expect(lines(input)).toEqual(['a.yaml:11: AKSNodeClass v9: there is no version karpenter.azure.com/v9']);
  });

  it('are validated as by the API server', () => {
    const input = read(
      [
        pool('heavy', 'weight: 1000'),
        pool('typo').replace('operator: In', 'operator: Within'),
        pool('elsewhere').replace('karpenter.azure.com, kind: AKSNodeClass', 'karpenter.k8s.aws, kind: EC2NodeClass'),
        'apiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: { name: default }\nspec:\n  imageFamily: Windows\n',
      ].join('---\n'),
    );
    expect([input.pools, input.classes]).toEqual([[], []]);
    expect(lines(input)).toMatchInlineSnapshot(`
      [
        "a.yaml:5: NodePool heavy: spec.weight: Invalid value: 1000: spec.weight in body should be less than or equal to 100",
        "a.yaml:21: NodePool typo: spec.template.spec.requirements[0].operator: Unsupported value: "Within": supported values: "Gte", "Lte", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"",
        "a.yaml:30: NodePool elsewhere: spec.template.spec.nodeClassRef: EC2NodeClass.karpenter.k8s.aws is not a node class of Azure",
        "a.yaml:38: AKSNodeClass default: spec.imageFamily: Unsupported value: "Windows": supported values: "Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux"",
      ]
    `);
  });
});
