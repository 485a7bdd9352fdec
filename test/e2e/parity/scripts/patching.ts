/** Replacing and patching. */
import { get, metadataOf, given, patch, post, put, script, type Script } from '../script.ts';
import { configMap, CORE, deployment, DEPLOYMENTS, MAPS, service, node } from './objects.ts';

export const patchingScripts: readonly Script[] = [
  script('replace', given(post(MAPS, configMap('one'))), put(`${MAPS}/one`, configMap('one', { other: 'value' }))),
  script('replace at its version', given(post(MAPS, configMap('one'))), (answers) =>
    put(
      `${MAPS}/one`,
      configMap('one', { other: 'value' }, { resourceVersion: metadataOf(answers[0])['resourceVersion'] }),
    ),
  ),
  script(
    'replace at an old version',
    given(post(MAPS, configMap('one'))),
    given(put(`${MAPS}/one`, configMap('one', { b: 'c' }))),
    (answers) =>
      put(
        `${MAPS}/one`,
        configMap('one', { other: 'value' }, { resourceVersion: metadataOf(answers[0])['resourceVersion'] }),
      ),
  ),
  script(
    'replace with another identity',
    given(post(MAPS, configMap('one'))),
    put(`${MAPS}/one`, configMap('one', {}, { uid: '00000000-0000-0000-0000-000000000001' })),
  ),
  script('replace what is not there', put(`${MAPS}/one`, configMap('one'))),
  script('replace with another name', given(post(MAPS, configMap('one'))), put(`${MAPS}/one`, configMap('two'))),
  script('replace with the same', post(MAPS, configMap('one')), put(`${MAPS}/one`, configMap('one'))),
  script(
    "replace cannot touch what is the server's",
    given(post(MAPS, configMap('one'))),
    put(
      `${MAPS}/one`,
      configMap(
        'one',
        {},
        { creationTimestamp: '2001-01-01T00:00:00Z', generation: 12, deletionTimestamp: '2001-01-01T00:00:00Z' },
      ),
    ),
  ),
  script(
    'replace for practice',
    given(post(MAPS, configMap('one'))),
    put(`${MAPS}/one?dryRun=All`, configMap('one', { a: 'b' })),
    get(`${MAPS}/one`),
  ),
  script(
    'replace a deployment counts generations',
    given(post(DEPLOYMENTS, deployment('one'))),
    put(`${DEPLOYMENTS}/one`, deployment('one', { replicas: 3 })),
    put(`${DEPLOYMENTS}/one`, deployment('one', { replicas: 3 }, { labels: { a: 'b' } })),
  ),
  script(
    'replace a service keeps its address',
    given(post(`${CORE}/services`, service('one'))),
    put(`${CORE}/services/one`, service('one', { ports: [{ port: 81 }] })),
  ),
  script(
    'replace clears managed fields',
    given(post(MAPS, configMap('one'))),
    put(`${MAPS}/one`, configMap('one', {}, { managedFields: [] })),
  ),

  script(
    'json patch',
    given(post(MAPS, configMap('one'))),
    patch('json', `${MAPS}/one`, [
      { op: 'test', path: '/data/key', value: 'value' },
      { op: 'add', path: '/data/more', value: 'x' },
      { op: 'remove', path: '/data/key' },
    ]),
  ),
  script(
    'json patch: test fails',
    given(post(MAPS, configMap('one'))),
    patch('json', `${MAPS}/one`, [{ op: 'test', path: '/data/key', value: 'other' }]),
  ),
  script(
    'json patch: removes nothing',
    given(post(MAPS, configMap('one'))),
    patch('json', `${MAPS}/one`, [{ op: 'remove', path: '/data/none' }]),
  ),
  script(
    'json patch: path without parent',
    given(post(MAPS, configMap('one'))),
    patch('json', `${MAPS}/one`, [{ op: 'add', path: '/a/b/c', value: 1 }]),
  ),
  script(
    'json patch: replace nothing',
    given(post(MAPS, configMap('one'))),
    patch('json', `${MAPS}/one`, [{ op: 'replace', path: '/data/none', value: 'x' }]),
  ),
  script(
    'json patch: move and copy',
    given(post(MAPS, configMap('one'))),
    patch('json', `${MAPS}/one`, [
      { op: 'copy', from: '/data/key', path: '/data/second' },
      { op: 'move', from: '/data/key', path: '/data/third' },
    ]),
  ),
  script('json patch: no list', given(post(MAPS, configMap('one'))), patch('json', `${MAPS}/one`, { data: {} })),
  script(
    'json patch: unknown operation',
    given(post(MAPS, configMap('one'))),
    patch('json', `${MAPS}/one`, [{ op: 'bless', path: '/data' }]),
  ),
  script(
    'json patch of list items',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('json', `${DEPLOYMENTS}/one`, [
      { op: 'add', path: '/spec/template/spec/containers/-', value: { name: 'side', image: 'c:2' } },
      { op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'd:3' },
    ]),
  ),
  script(
    'merge patch',
    given(post(MAPS, configMap('one', { a: '1', b: '2' }))),
    patch('merge', `${MAPS}/one`, { data: { a: null, c: '3' }, metadata: { labels: { x: 'y' } } }),
  ),
  script(
    'merge patch: changes nothing',
    post(MAPS, configMap('one')),
    patch('merge', `${MAPS}/one`, { data: { key: 'value' } }),
  ),
  script(
    'merge patch: at an old version',
    given(post(MAPS, configMap('one'))),
    patch('merge', `${MAPS}/one`, { metadata: { resourceVersion: '1' }, data: { a: 'b' } }),
  ),
  script('merge patch: nonsense', given(post(MAPS, configMap('one'))), patch('merge', `${MAPS}/one`, '{"data"')),
  script(
    'merge patch: wrong type',
    given(post(MAPS, configMap('one'))),
    patch('merge', `${MAPS}/one`, { data: ['a'] }),
  ),
  script(
    'merge patch: replaces lists',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('merge', `${DEPLOYMENTS}/one`, {
      spec: { template: { spec: { containers: [{ name: 'other', image: 'c:2' }] } } },
    }),
  ),
  script(
    'merge patch: renames',
    given(post(MAPS, configMap('one'))),
    patch('merge', `${MAPS}/one`, { metadata: { name: 'two' } }),
  ),
  script('merge patch: what is not there', patch('merge', `${MAPS}/one`, { data: {} })),
  script(
    'strategic patch: merges containers',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('strategic', `${DEPLOYMENTS}/one`, {
      spec: {
        template: {
          spec: {
            containers: [
              { name: 'side', image: 'c:2' },
              { name: 'main', env: [{ name: 'A', value: 'b' }] },
            ],
          },
        },
      },
    }),
  ),
  script(
    'strategic patch: deletes an item',
    given(
      post(
        DEPLOYMENTS,
        deployment('one', {
          template: {
            metadata: { labels: { app: 'one' } },
            spec: {
              containers: [
                { name: 'main', image: 'a:1' },
                { name: 'side', image: 'b:1' },
              ],
            },
          },
        }),
      ),
    ),
    patch('strategic', `${DEPLOYMENTS}/one`, {
      spec: { template: { spec: { containers: [{ name: 'side', $patch: 'delete' }] } } },
    }),
  ),
  script(
    'strategic patch: replaces a list',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('strategic', `${DEPLOYMENTS}/one`, {
      spec: { template: { spec: { containers: [{ $patch: 'replace' }, { name: 'new', image: 'b:1' }] } } },
    }),
  ),
  script(
    'strategic patch: sets the order',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('strategic', `${DEPLOYMENTS}/one`, {
      spec: {
        template: {
          spec: {
            '$setElementOrder/containers': [{ name: 'side' }, { name: 'main' }],
            containers: [{ name: 'side', image: 'b:1' }],
          },
        },
      },
    }),
  ),
  script(
    'strategic patch: retains keys',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('strategic', `${DEPLOYMENTS}/one`, { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }),
  ),
  script(
    'strategic patch: finalizers and deletion from a primitive list',
    given(post(MAPS, configMap('one', {}, { finalizers: ['a.example.com/x', 'b.example.com/y'] }))),
    patch('strategic', `${MAPS}/one`, {
      metadata: { '$deleteFromPrimitiveList/finalizers': ['a.example.com/x'], finalizers: ['c.example.com/z'] },
    }),
    patch('merge', `${MAPS}/one`, { metadata: { finalizers: null } }),
  ),
  script(
    'strategic patch: without the merge key',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('strategic', `${DEPLOYMENTS}/one`, { spec: { template: { spec: { containers: [{ image: 'b:1' }] } } } }),
  ),
  script(
    'strategic patch: taints',
    given(post('/api/v1/nodes', node('NS-one', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }))),
    patch('strategic', '/api/v1/nodes/NS-one', {
      spec: { taints: [{ key: 'b', effect: 'NoSchedule' }], unschedulable: true },
    }),
  ),
  script(
    'strategic patch: unknown field, strictly',
    given(post(MAPS, configMap('one'))),
    patch('strategic', `${MAPS}/one?fieldValidation=Strict`, { dota: { a: 'b' } }),
  ),
  script(
    'strategic patch: unknown field, warned',
    given(post(MAPS, configMap('one'))),
    patch('strategic', `${MAPS}/one`, { dota: { a: 'b' } }),
  ),
  script('patch of an unknown type', given(post(MAPS, configMap('one'))), {
    method: 'PATCH',
    path: `${MAPS}/one`,
    body: {},
    type: 'application/json',
  }),
  script(
    'patch for practice',
    given(post(MAPS, configMap('one'))),
    patch('merge', `${MAPS}/one?dryRun=All`, { data: { a: 'b' } }),
    get(`${MAPS}/one`),
  ),
];
