import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderCrds } from '../../../src/api/crds.ts';
import type { CustomResourceDefinition } from '../../../src/api/kinds.ts';
import { fieldErrorText } from '../../../src/api/schema/fieldError.ts';
import type { JsonObject } from '../../../src/api/schema/json.ts';
import type { StructuralSchema } from '../../../src/api/schema/structuralSchema.ts';
import { startControlPlane } from '../../controlplane/controlPlane.ts';
import type { ControlPlane } from '../../controlplane/controlPlane.ts';
import { essence, judge } from './inProcess.ts';
import { installCrds } from './installCrds.ts';
import { Mutator, print } from './mutations.ts';
import { connectRaw, inParallel } from './rawClient.ts';
import type { Answer, RawClient } from './rawClient.ts';
import { SAMPLES } from './samples.ts';
import type { Sample } from './samples.ts';
import { upstreamCrds, upstreamGroup } from './upstream.ts';

/** Raise for a thorough run: every object is sent to both definitions and judged in process. */
const MUTATIONS = Number(process.env['NODEWRIGHT_CRD_MUTATIONS'] ?? '400');
const SEED = Number(process.env['NODEWRIGHT_CRD_SEED'] ?? '1');
const WIDTH = 16;
const SHOWN = 8;

type Endpoint = 'create' | 'update' | 'status';

interface Case {
  readonly seed: number;
  readonly endpoint: Endpoint;
  readonly base: number;
  readonly text: string;
}

describe('our definitions, those of Karpenter, and our engine agree', () => {
  let plane: ControlPlane;
  let client: RawClient;
  let hasUpstream: (crd: CustomResourceDefinition) => boolean;
  const ours = new Map(renderCrds().map((crd) => [crd.spec.names.kind, crd]));

  beforeAll(async () => {
    const upstream = await upstreamCrds();
    if (upstream.withoutAzure !== undefined) {
      console.warn(`comparing with core and the known Azure rules only: ${upstream.withoutAzure}`);
    }
    const names = new Set(upstream.crds.map((crd) => crd.metadata.name));
    hasUpstream = (crd) => names.has(`${crd.spec.names.plural}.${upstreamGroup(crd.spec.group)}`);
    plane = await startControlPlane();
    await installCrds(plane, [...ours.values(), ...upstream.crds]);
    client = await connectRaw(plane.adminKubeconfig, WIDTH * 2);
  });

  afterAll(async () => {
    await client?.close();
    await plane?.stop();
  });

  it.each(SAMPLES)(
    '$kind',
    async (sample) => {
      const crd = ours.get(sample.kind) as CustomResourceDefinition;
      const groups = [sample.group, ...(hasUpstream(crd) ? [upstreamGroup(sample.group)] : [])];
      const stored = await storeBases(client, sample, groups);
      const cases = makeCases(sample, crd);
      const differences: string[] = [];
      const verdicts = { admitted: 0, refused: 0 };

      await inParallel(cases, WIDTH, async (each) => {
        const answers = await Promise.all(groups.map((group) => send(client, sample, group, each, stored)));
        const [first, second] = answers as [Answer, Answer | undefined];
        verdicts[first.code < 300 ? 'admitted' : 'refused'] += 1;
        const old = each.endpoint === 'create' ? undefined : stored.get(`${sample.group} ${each.base}`);
        const own = judge(crd, sample.version, withMetadata(sample, sample.group, each.text, {}), part(each), old);
        const difference =
          (second === undefined ? undefined : compareAnswers(first, second)) ?? compareWithEngine(first, own);
        if (difference !== undefined)
          differences.push(`seed ${each.seed}, ${each.endpoint}: ${each.text}\n  ${difference}`);
      });

      expect(differences.slice(0, SHOWN), `${differences.length} of ${cases.length} differ`).toEqual([]);
      // A run that only ever hears one answer compares nothing.
      expect(verdicts.admitted).toBeGreaterThan(cases.length / 20);
      expect(verdicts.refused).toBeGreaterThan(cases.length / 20);
    },
    120_000 + MUTATIONS * 200,
  );
});

function part(each: Case): 'spec' | 'status' {
  return each.endpoint === 'status' ? 'status' : 'spec';
}

function makeCases(sample: Sample, crd: CustomResourceDefinition): Case[] {
  const schema = crd.spec.versions.find((each) => each.name === sample.version)?.schema
    ?.openAPIV3Schema as StructuralSchema;
  return Array.from({ length: MUTATIONS }, (_, index) => {
    const seed = SEED * 1_000_003 + index;
    const base = index % sample.objects.length;
    const object = sample.objects[base] ?? {};
    const endpoint: Endpoint = index % 8 === 0 ? 'status' : index % 3 === 0 ? 'update' : 'create';
    const text = new Mutator(seed).mutate(schema, object, endpoint === 'status' ? 'status' : 'spec');
    return { seed, endpoint, base, text };
  });
}

/** A mutated text is an object whose metadata we then write ourselves. */
function withMetadata(sample: Sample, group: string, text: string, metadata: object): string {
  const name = { name: 'subject', ...(sample.namespaced ? { namespace: 'default' } : {}) };
  const head = { apiVersion: `${group}/${sample.version}`, kind: sample.kind, metadata: { ...name, ...metadata } };
  const rest = text.startsWith('{') ? text.slice(1) : '}';
  return `${JSON.stringify(head).slice(0, -1)}${rest === '}' ? '' : ','}${rest}`;
}

function collection(sample: Sample, group: string): string {
  return `/apis/${group}/${sample.version}${sample.namespaced ? '/namespaces/default' : ''}/${sample.plural}`;
}

/** The objects that updates start from, by group and number, as the server stored them. */
async function storeBases(
  client: RawClient,
  sample: Sample,
  groups: readonly string[],
): Promise<Map<string, JsonObject>> {
  const stored = new Map<string, JsonObject>();
  for (const group of groups) {
    for (const [base, object] of sample.objects.entries()) {
      const path = collection(sample, group);
      const text = withMetadata(sample, group, print(object), { name: `base-${base}` });
      const created = await client.send('POST', path, text);
      expect(created, `creating ${sample.kind} ${base} in ${group}`).toMatchObject({ code: 201 });
      const { metadata } = created.body as { metadata: object };
      const status = await client.send(
        'PUT',
        `${path}/base-${base}/status`,
        withMetadata(sample, group, print(object), metadata),
      );
      expect(status, `status of ${sample.kind} ${base} in ${group}`).toMatchObject({ code: 200 });
      stored.set(`${group} ${base}`, status.body as JsonObject);
    }
  }
  return stored;
}

function send(
  client: RawClient,
  sample: Sample,
  group: string,
  each: Case,
  stored: ReadonlyMap<string, JsonObject>,
): Promise<Answer> {
  const path = collection(sample, group);
  const query = 'dryRun=All&fieldValidation=Ignore';
  if (each.endpoint === 'create') {
    return client.send('POST', `${path}?${query}`, withMetadata(sample, group, each.text, {}));
  }
  const { metadata } = stored.get(`${group} ${each.base}`) as { metadata: object };
  const text = withMetadata(sample, group, each.text, metadata);
  const subresource = each.endpoint === 'status' ? '/status' : '';
  return client.send('PUT', `${path}/base-${each.base}${subresource}?${query}`, text);
}

interface Cause {
  readonly field?: string;
  readonly message?: string;
}

function causes(answer: Answer): Cause[] {
  return (answer.body['details'] as { causes?: Cause[] } | undefined)?.causes ?? [];
}

/** Errors without a field of their own are reported at the root of what the endpoint checks. */
const fields = (found: readonly Cause[]) =>
  found.map((cause) => (cause.field === '<nil>' || cause.field === 'status' ? '' : (cause.field ?? ''))).sort();

function compareAnswers(first: Answer, second: Answer): string | undefined {
  if (first.code !== second.code) return `ours ${summary(first)}\n  theirs ${summary(second)}`;
  if (first.code < 300) return sameJson(essence(first.body), essence(second.body));
  return sameJson(fields(causes(first)), fields(causes(second)));
}

function compareWithEngine(server: Answer, own: ReturnType<typeof judge>): string | undefined {
  const admitted = server.code < 300;
  if (admitted !== (own.errors.length === 0)) {
    return `server ${summary(server)}\n  engine ${own.errors.map(fieldErrorText).join('; ') || 'admits it'}`;
  }
  if (admitted) return sameJson(essence(server.body), essence(own.object));
  // Requests that cannot even be decoded have no causes.
  if (causes(server).length === 0) return undefined;
  return sameJson(fields(causes(server)), fields(own.errors));
}

function summary(answer: Answer): string {
  return answer.code < 300 ? 'admits it' : `refuses it: ${String(answer.body['message'])}`;
}

function sameJson(left: unknown, right: unknown): string | undefined {
  const [one, other] = [canonical(left), canonical(right)];
  return one === other ? undefined : `${one}\n  ${other}`;
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner === 'bigint') return Number(inner);
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}
