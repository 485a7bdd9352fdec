/** CRDs: structure, defaults, pruning, CEL, list types, subresources. */
import { del, get, given, patch, post, put, script, type Json, type Request, type Script } from '../script.ts';
import { definition, DEFINITIONS, widget, WIDGETS } from './objects.ts';

const schema = (spec: Json, root: Json = {}): Json => ({
  type: 'object',
  properties: { spec: { type: 'object', ...spec } },
  ...root,
});
const installed = (of: Json, extra: Json = {}, version: Json = {}): Request[] => [
  given(post(DEFINITIONS, definition(of, extra, version))),
  given(get(WIDGETS, { untilCode: 200 })),
];
const SIZES = schema({
  properties: {
    size: { type: 'integer', minimum: 1, maximum: 10 },
    color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
    name: { type: 'string', pattern: '^[a-z]+$', maxLength: 5, minLength: 2 },
    tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set', maxItems: 3 },
  },
  required: ['size'],
});
const LISTS = schema({
  properties: {
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, port: { type: 'integer', default: 80 } },
      },
    },
    selector: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    amount: { 'x-kubernetes-int-or-string': true },
  },
});
const RULES = schema({
  properties: {
    low: { type: 'integer' },
    high: { type: 'integer' },
    fixed: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'is fixed' }] },
  },
  'x-kubernetes-validations': [
    { rule: 'self.low <= self.high', message: 'low must not exceed high', fieldPath: '.low' },
    {
      rule: 'self.high < 100',
      messageExpression: "self.high > 1000 ? 'far too high' : 'too high'",
      reason: 'FieldValueForbidden',
    },
  ],
});
const create = (name: string, of: Json, body: Json, query = ''): Script =>
  script(
    `custom: ${name}`,
    ...installed(of),
    post(`${WIDGETS}${query}`, widget('one', body), { until: (answer) => answer['reason'] !== 'NotFound' }),
  );
const bad = (name: string, change: Json): Script =>
  script(`bad definition: ${name}`, post(DEFINITIONS, { ...definition(schema({})), ...change }));
const spec = (change: Json): Json => ({ spec: { ...(definition(schema({}))['spec'] as Json), ...change } });
const bySchema = (name: string, of: Json): Script =>
  script(`bad definition: ${name}`, post(DEFINITIONS, definition(of)));

export const customResourceScripts: readonly Script[] = [
  script(
    'definition',
    post(DEFINITIONS, definition(SIZES)),
    get(`${DEFINITIONS}/widgets.NS.example.com`, {
      until: (body) =>
        (((body['status'] as Json)['conditions'] ?? []) as Json[]).some(
          (one) => one['type'] === 'Established' && one['status'] === 'True',
        ),
    }),
  ),
  script(
    'definition shows in discovery',
    ...installed(
      SIZES,
      {},
      { subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } } },
    ),
    get('/apis/NS.example.com/v1', { untilCode: 200 }),
    get('/apis/NS.example.com', { untilCode: 200 }),
  ),
  script(
    'definition is deleted',
    ...installed(SIZES),
    given(post(WIDGETS, widget('one', { spec: { size: 1 } }), { untilCode: 201 })),
    del(`${DEFINITIONS}/widgets.NS.example.com`),
    get(`${DEFINITIONS}/widgets.NS.example.com`, { untilCode: 404 }),
    get(WIDGETS, { untilCode: 404 }),
  ),
  bad('name', { metadata: { name: 'other.NS.example.com' } }),
  bad('no group', spec({ group: '' })),
  bad(
    'no storage version',
    spec({ versions: [{ name: 'v1', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } }] }),
  ),
  bad('no schema', spec({ versions: [{ name: 'v1', served: true, storage: true }] })),
  bad('no versions', spec({ versions: [] })),
  bad('scope', spec({ scope: 'Planet' })),
  bad('kind', spec({ names: { plural: 'widgets', kind: 'wid get' } })),
  bySchema('schema without type', { properties: { spec: {} } }),
  bySchema('property without type', { type: 'object', properties: { spec: {} } }),
  bySchema('default of the wrong type', schema({ properties: { a: { type: 'integer', default: 'x' } } })),
  bySchema('broken rule', schema({ 'x-kubernetes-validations': [{ rule: 'self.nothing >' }] })),
  bySchema(
    'list map without keys',
    schema({ properties: { a: { type: 'array', 'x-kubernetes-list-type': 'map', items: { type: 'object' } } } }),
  ),
  create('defaults', SIZES, { spec: { size: 3 } }),
  create('prunes', SIZES, { spec: { size: 3, unknown: 1 }, more: {} }),
  create('unknown fields, strictly', SIZES, { spec: { size: 3, unknown: 1 }, more: {} }, '?fieldValidation=Strict'),
  create('unknown fields, ignored', SIZES, { spec: { size: 3, unknown: 1 } }, '?fieldValidation=Ignore'),
  create('required', SIZES, { spec: {} }),
  create('wrong type', SIZES, { spec: { size: 'big' } }),
  create('too small', SIZES, { spec: { size: 0 } }),
  create('too large', SIZES, { spec: { size: 11 } }),
  create('not in the list of values', SIZES, { spec: { size: 1, color: 'green' } }),
  create('pattern', SIZES, { spec: { size: 1, name: 'A1' } }),
  create('length', SIZES, { spec: { size: 1, name: 'abcdefg' } }),
  create('too short', SIZES, { spec: { size: 1, name: 'a' } }),
  create('twice in a set', SIZES, { spec: { size: 1, tags: ['a', 'a'] } }),
  create('too many', SIZES, { spec: { size: 1, tags: ['a', 'b', 'c', 'd'] } }),
  create('nulls', SIZES, { spec: { size: 1, color: null, name: null } }),
  create('list map', LISTS, {
    spec: { ports: [{ name: 'a' }, { name: 'b', port: 1 }], open: { any: { thing: [1] } }, amount: '10%' },
  }),
  create('twice in a list map', LISTS, { spec: { ports: [{ name: 'a' }, { name: 'a' }] } }),
  create('neither integer nor text', LISTS, { spec: { amount: 1.5 } }),
  create('rule holds', RULES, { spec: { low: 1, high: 2 } }),
  create('rule broken', RULES, { spec: { low: 3, high: 2 } }),
  create('rule with an expression broken', RULES, { spec: { low: 3, high: 200 } }),
  script(
    'custom: transition rule',
    ...installed(RULES),
    given(post(WIDGETS, widget('one', { spec: { low: 1, high: 2, fixed: 'a' } }), { untilCode: 201 })),
    patch('merge', `${WIDGETS}/one`, { spec: { fixed: 'b' } }),
  ),
  script(
    'custom: generation',
    ...installed(SIZES, {}, { subresources: { status: {} } }),
    given(post(WIDGETS, widget('one', { spec: { size: 1 }, status: { a: 1 } }), { untilCode: 201 })),
    patch('merge', `${WIDGETS}/one`, { spec: { size: 2 } }),
    patch('merge', `${WIDGETS}/one`, { metadata: { labels: { a: 'b' } } }),
  ),
  script(
    'custom: status',
    ...installed(
      {
        ...SIZES,
        properties: {
          ...(SIZES['properties'] as Json),
          status: { type: 'object', properties: { done: { type: 'boolean' } } },
        },
      },
      {},
      { subresources: { status: {} } },
    ),
    given(post(WIDGETS, widget('one', { spec: { size: 1 } }), { untilCode: 201 })),
    patch('merge', `${WIDGETS}/one/status`, { spec: { size: 9 }, status: { done: true } }),
    patch('merge', `${WIDGETS}/one`, { status: { done: false } }),
    put(`${WIDGETS}/one/status`, widget('one', { status: { done: 'x' } })),
  ),
  script(
    'custom: scale',
    ...installed(
      SIZES,
      {},
      { subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } } },
    ),
    given(post(WIDGETS, widget('one', { spec: { size: 1 } }), { untilCode: 201 })),
    get(`${WIDGETS}/one/scale`),
    patch('merge', `${WIDGETS}/one/scale`, { spec: { replicas: 4 } }),
  ),
  script(
    'custom: replace needs a version',
    ...installed(SIZES),
    given(post(WIDGETS, widget('one', { spec: { size: 1 } }), { untilCode: 201 })),
    put(`${WIDGETS}/one`, widget('one', { spec: { size: 2 } })),
  ),
  script(
    'custom: strategic patch',
    ...installed(SIZES),
    given(post(WIDGETS, widget('one', { spec: { size: 1 } }), { untilCode: 201 })),
    patch('strategic', `${WIDGETS}/one`, { spec: { size: 2 } }),
  ),
  script(
    'custom: json patch',
    ...installed(SIZES),
    given(post(WIDGETS, widget('one', { spec: { size: 1 } }), { untilCode: 201 })),
    patch('json', `${WIDGETS}/one`, [{ op: 'replace', path: '/spec/size', value: 2 }]),
  ),
  script(
    'custom: apply',
    ...installed(LISTS),
    given(get(WIDGETS, { untilCode: 200 })),
    patch(
      'apply',
      `${WIDGETS}/one?fieldManager=me`,
      widget('one', { spec: { ports: [{ name: 'a', port: 1 }], selector: { a: 'b' } } }),
      { untilCode: 201 },
    ),
    patch('apply', `${WIDGETS}/one?fieldManager=you`, widget('one', { spec: { ports: [{ name: 'b' }] } })),
    patch('apply', `${WIDGETS}/one?fieldManager=you`, widget('one', { spec: { selector: { c: 'd' } } })),
  ),
  script(
    'custom: list and delete a collection',
    ...installed(SIZES),
    given(post(WIDGETS, widget('one', { spec: { size: 1 } }), { untilCode: 201 })),
    get(WIDGETS),
    del(WIDGETS),
    get(WIDGETS),
  ),
  script(
    'custom: watch',
    ...installed(SIZES),
    given(post(WIDGETS, widget('one', { spec: { size: 1 } }), { untilCode: 201 })),
    get(`${WIDGETS}?watch=true&timeoutSeconds=1`),
  ),
  script(
    'custom: bad metadata',
    ...installed(SIZES),
    post(WIDGETS, widget('Bad_Name', { spec: { size: 1 } }), { until: (answer) => answer['reason'] !== 'NotFound' }),
    post(WIDGETS, widget('one', { spec: { size: 1 } }, { labels: { a: 'b c' } })),
  ),
  script(
    'custom: selectable fields',
    ...installed(SIZES, {}, { selectableFields: [{ jsonPath: '.spec.color' }] }),
    given(post(WIDGETS, widget('one', { spec: { size: 1 } }), { untilCode: 201 })),
    given(post(WIDGETS, widget('two', { spec: { size: 1, color: 'blue' } }))),
    get(`${WIDGETS}?fieldSelector=spec.color%3Dblue`),
    get(`${WIDGETS}?fieldSelector=spec.size%3D1`),
  ),
  script(
    'custom: two versions',
    ...installed(SIZES, {
      versions: ['v1', 'v2'].map((name) => ({
        name,
        served: true,
        storage: name === 'v1',
        schema: { openAPIV3Schema: SIZES },
      })),
    }),
    given(post(WIDGETS, widget('one', { spec: { size: 1 } }), { untilCode: 201 })),
    get('/apis/NS.example.com/v2/namespaces/NS/widgets/one', { untilCode: 200 }),
  ),
];
