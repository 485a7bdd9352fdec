/** Server-side apply. */
import { get, given, patch, post, script, type Script } from '../script.ts';
import { configMap, deployment, DEPLOYMENTS, MAPS, pod, PODS } from './objects.ts';

export const applyingScripts: readonly Script[] = [
  script('apply creates', patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one'))),
  script('apply without a manager', patch('apply', `${MAPS}/one`, configMap('one'))),
  script('apply without kind', patch('apply', `${MAPS}/one?fieldManager=me`, { metadata: { name: 'one' } })),
  script('apply with another name', patch('apply', `${MAPS}/one?fieldManager=me`, configMap('two'))),
  script(
    'apply with managed fields',
    patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', {}, { managedFields: [] })),
  ),
  script(
    'apply with force on a merge patch',
    given(post(MAPS, configMap('one'))),
    patch('merge', `${MAPS}/one?force=true`, { data: {} }),
  ),
  script(
    'apply again changes nothing',
    patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one')),
    patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one')),
  ),
  script(
    'apply removes what is left out',
    given(patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', { a: '1', b: '2' }))),
    patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', { b: '2' })),
  ),
  script(
    'apply conflicts',
    given(patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', { a: '1' }))),
    patch('apply', `${MAPS}/one?fieldManager=you`, configMap('one', { a: '2' })),
  ),
  script(
    'apply conflicts in two fields with two managers',
    given(patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', { a: '1' }))),
    given(patch('merge', `${MAPS}/one?fieldManager=them`, { data: { b: '1' } })),
    patch('apply', `${MAPS}/one?fieldManager=you`, configMap('one', { a: '2', b: '2' })),
  ),
  script(
    'apply by force',
    given(patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', { a: '1' }))),
    patch('apply', `${MAPS}/one?fieldManager=you&force=true`, configMap('one', { a: '2' })),
  ),
  script(
    'apply shares a value',
    given(patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', { a: '1' }))),
    patch('apply', `${MAPS}/one?fieldManager=you`, configMap('one', { a: '1' })),
    patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', {})),
  ),
  script(
    'apply a deployment',
    patch('apply', `${DEPLOYMENTS}/one?fieldManager=me`, deployment('one', { replicas: 2 })),
  ),
  script(
    'apply part of a deployment',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('apply', `${DEPLOYMENTS}/one?fieldManager=me`, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      spec: { template: { spec: { containers: [{ name: 'side', image: 'b:1' }] } } },
    }),
  ),
  script(
    'apply then update takes over',
    given(patch('apply', `${DEPLOYMENTS}/one?fieldManager=me`, deployment('one', { replicas: 2 }))),
    patch('merge', `${DEPLOYMENTS}/one?fieldManager=scaler`, { spec: { replicas: 5 } }),
    patch('apply', `${DEPLOYMENTS}/one?fieldManager=me`, deployment('one', { replicas: 2 })),
  ),
  script(
    'apply from yaml',
    patch(
      'apply',
      `${MAPS}/one?fieldManager=me`,
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {a: b}\n',
    ),
  ),
  script(
    'apply with an unknown field',
    patch('apply', `${MAPS}/one?fieldManager=me`, { ...configMap('one'), dota: {} }),
  ),
  script(
    'apply with duplicate keys in a list',
    patch(
      'apply',
      `${PODS}/one?fieldManager=me`,
      pod(
        'one',
        {},
        {
          containers: [
            { name: 'a', image: 'b' },
            { name: 'a', image: 'c' },
          ],
        },
      ),
    ),
  ),
  script(
    'apply for practice',
    patch('apply', `${MAPS}/one?fieldManager=me&dryRun=All`, configMap('one')),
    get(`${MAPS}/one`),
  ),
  script(
    'apply status',
    given(post(DEPLOYMENTS, deployment('one'))),
    patch('apply', `${DEPLOYMENTS}/one/status?fieldManager=me`, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      status: { replicas: 3, conditions: [{ type: 'Available', status: 'True' }] },
    }),
  ),
  script(
    'apply at an old version',
    given(patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one'))),
    patch('apply', `${MAPS}/one?fieldManager=me`, configMap('one', { a: 'b' }, { resourceVersion: '1' })),
  ),
];
