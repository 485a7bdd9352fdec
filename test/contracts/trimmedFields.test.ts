/**
 * No reader of the picture names a field of pods or nodes that an informer drops. Beside it, trimmedObjects.property.test.ts
 * compares what the readers answer.
 */
import { join, relative } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { Kinds, type Node, type Pod } from '../../src/api/kinds.ts';
import { trimFor } from '../../src/kube/trim.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Rooms that are given objects of the picture. */
const READERS = /^src\/(pods|cluster|constraints|solver|disruption|controllers|ledger|explain|rehearsal|dashboard)\//;
/** Readers of dropped fields, which take whole objects: what they read themselves, and templates of pods. */
const OF_WHOLE_OBJECTS: readonly string[] = [
  'src/explain/podSource.ts: Container.image',
  'src/controllers/capacity-buffer/virtualPods.ts: Container.volumeMounts',
  'src/rehearsal/rightsFindings.ts: PodSpec.serviceAccountName',
];
const INTERFACES = ['PodSpec', 'Container', 'PodStatus', 'PodCondition', 'ContainerStatus', 'NodeSpec', 'NodeStatus'];

type Fields = Record<string, unknown>;
type Part = (typeof INTERFACES)[number];

const { options, fileNames } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config,
  ts.sys,
  ROOT,
);
const files = fileNames.filter((file) => READERS.test(relative(ROOT, file)) && !file.endsWith('.test.ts'));
const { tsBuildInfoFile: _, ...compiler } = options;
const program = ts.createProgram(files, { ...compiler, incremental: false });
const checker = program.getTypeChecker();

/** The interface of the published types that declares a property. */
function interfaceOf(property: ts.Symbol | undefined): Part | undefined {
  const parent = property?.declarations?.[0]?.parent;
  if (parent === undefined || !ts.isInterfaceDeclaration(parent)) return undefined;
  const isPublished = parent.getSourceFile().fileName.includes('/kubernetes-types/core/');
  return isPublished && INTERFACES.includes(parent.name.text) ? parent.name.text : undefined;
}

/** Every field of an interface that is read, as `file: Interface.field`. */
function fieldsRead(): readonly string[] {
  const found = new Set<string>();
  const note = (property: ts.Symbol | undefined, node: ts.Node): void => {
    const part = interfaceOf(property);
    if (part !== undefined) found.add(`${relative(ROOT, node.getSourceFile().fileName)}: ${part}.${property?.name}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node)) note(checker.getSymbolAtLocation(node.name), node);
    if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent) && node.dotDotDotToken === undefined) {
      const type = checker.getNonNullableType(checker.getTypeAtLocation(node.parent));
      note(checker.getPropertyOfType(type, (node.propertyName ?? node.name).getText()), node);
    }
    ts.forEachChild(node, visit);
  };
  for (const file of files) {
    const source = program.getSourceFile(file);
    if (source !== undefined) visit(source);
  }
  return [...found];
}

/** The names of the fields of an interface. */
function fieldsOf(part: Part): readonly string[] {
  const core = program.getSourceFiles().find(({ fileName }) => fileName.endsWith('kubernetes-types/core/v1.d.ts'));
  const declared = core?.statements.find((node) => ts.isInterfaceDeclaration(node) && node.name.text === part);
  if (declared === undefined) return [];
  return checker
    .getTypeAtLocation(declared)
    .getProperties()
    .map(({ name }) => name);
}

const whole = (part: Part): Fields => Object.fromEntries(fieldsOf(part).map((name) => [name, name]));

/** What is left of an object in which every field is set, as `Interface.field`. */
function fieldsKept(): readonly string[] {
  const resized = { ...whole('ContainerStatus'), restartCount: 1, resources: { requests: { cpu: '2' } } };
  const pod = trimFor(Kinds.Pod)(
    {
      metadata: { name: 'p' },
      spec: {
        ...whole('PodSpec'),
        containers: [whole('Container')],
        initContainers: [whole('Container')],
        volumes: [],
      },
      status: {
        ...whole('PodStatus'),
        conditions: [whole('PodCondition')],
        containerStatuses: [resized],
        initContainerStatuses: [resized],
      },
    } as unknown as Pod,
    undefined,
  );
  const node = trimFor(Kinds.Node)(
    { metadata: { name: 'n' }, spec: whole('NodeSpec'), status: whole('NodeStatus') } as unknown as Node,
    undefined,
  );
  const parts: Record<Part, object | undefined> = {
    PodSpec: pod.spec,
    Container: pod.spec?.containers[0],
    PodStatus: pod.status,
    PodCondition: pod.status?.conditions?.[0],
    ContainerStatus: pod.status?.containerStatuses?.[0],
    NodeSpec: node.spec,
    NodeStatus: node.status,
  };
  return INTERFACES.flatMap((part) => Object.keys(parts[part] ?? {}).map((name) => `${part}.${name}`));
}

it('names only fields that an informer keeps', { timeout: 300_000 }, () => {
  const kept = new Set(fieldsKept());
  const read = fieldsRead();
  expect([kept.size, read.length].every((count) => count > 40)).toBe(true);
  const dropped = read.filter((field) => !kept.has(field.slice(field.indexOf(': ') + 2)));
  expect(dropped.sort()).toEqual([...OF_WHOLE_OBJECTS].sort());
});
