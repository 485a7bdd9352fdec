/** Deletes, collections, garbage and the end of namespaces. */
import {
  bare,
  del,
  get,
  metadataOf,
  given,
  patch,
  post,
  put,
  script,
  type Answer,
  type Json,
  type Script,
} from '../script.ts';
import { configMap, deployment, DEPLOYMENTS, MAPS, pod, PODS } from './objects.ts';

const ownedBy = (answer: Answer | undefined, extra: Json = {}): Json => ({
  ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadataOf(answer)['uid'], ...extra }],
});
const kept = { finalizers: ['example.com/keep'] };

export const deletingScripts: readonly Script[] = [
  script('delete', given(post(MAPS, configMap('one'))), del(`${MAPS}/one`), get(`${MAPS}/one`)),
  script('delete what is not there', del(`${MAPS}/one`)),
  script('delete for practice', given(post(MAPS, configMap('one'))), del(`${MAPS}/one?dryRun=All`), get(`${MAPS}/one`)),
  script('delete with the right identity', given(post(MAPS, configMap('one'))), (answers) =>
    del(`${MAPS}/one`, { preconditions: { uid: metadataOf(answers[0])['uid'] } }),
  ),
  script(
    'delete with another identity',
    given(post(MAPS, configMap('one'))),
    del(`${MAPS}/one`, { preconditions: { uid: '00000000-0000-0000-0000-000000000001' } }),
  ),
  script(
    'delete at an old version',
    given(post(MAPS, configMap('one'))),
    del(`${MAPS}/one`, { preconditions: { resourceVersion: '1' } }),
  ),
  script(
    'delete with a finalizer',
    given(post(MAPS, configMap('one', {}, kept))),
    del(`${MAPS}/one`),
    del(`${MAPS}/one`),
    patch('merge', `${MAPS}/one`, { metadata: { finalizers: null } }),
    get(`${MAPS}/one`),
  ),
  script(
    'adding a finalizer too late',
    given(post(MAPS, configMap('one', {}, kept))),
    given(del(`${MAPS}/one`)),
    patch('merge', `${MAPS}/one`, { metadata: { finalizers: ['example.com/keep', 'example.com/late'] } }),
  ),
  script(
    'replacing what is being deleted',
    given(post(MAPS, configMap('one', {}, kept))),
    given(del(`${MAPS}/one`)),
    put(`${MAPS}/one`, configMap('one', { a: 'b' }, kept)),
  ),
  script(
    'creating over what is being deleted',
    given(post(MAPS, configMap('one', {}, kept))),
    given(del(`${MAPS}/one`)),
    post(MAPS, configMap('one')),
  ),
  script('delete a pod that has no node', given(post(PODS, pod('one'))), del(`${PODS}/one`), get(`${PODS}/one`)),
  script(
    'delete a pod with grace',
    given(post(PODS, pod('one', {}, { nodeName: 'n' }))),
    del(`${PODS}/one`),
    get(`${PODS}/one`),
  ),
  script(
    'delete a pod with another grace',
    given(post(PODS, pod('one', {}, { nodeName: 'n' }))),
    del(`${PODS}/one?gracePeriodSeconds=5`),
    del(`${PODS}/one`, { gracePeriodSeconds: 60 }),
    del(`${PODS}/one`, { gracePeriodSeconds: 2 }),
  ),
  script(
    'delete a pod at once',
    given(post(PODS, pod('one', {}, { nodeName: 'n' }))),
    del(`${PODS}/one`, { gracePeriodSeconds: 0 }),
    get(`${PODS}/one`),
  ),
  script(
    'delete a pod with a negative grace',
    given(post(PODS, pod('one', {}, { nodeName: 'n' }))),
    del(`${PODS}/one`, { gracePeriodSeconds: -1 }),
  ),
  script(
    'delete a pod with grace of its own',
    given(post(PODS, pod('one', {}, { nodeName: 'n', terminationGracePeriodSeconds: 90 }))),
    del(`${PODS}/one`),
  ),
  script(
    'delete an ended pod',
    given(post(PODS, pod('one', {}, { nodeName: 'n' }))),
    given(patch('merge', `${PODS}/one/status`, { status: { phase: 'Succeeded' } })),
    del(`${PODS}/one`),
  ),
  script(
    'delete a pod with a finalizer',
    given(post(PODS, pod('one', kept, { nodeName: 'n' }))),
    del(`${PODS}/one`),
    del(`${PODS}/one?gracePeriodSeconds=0`),
    get(`${PODS}/one`),
  ),
  script(
    'delete a deployment in the foreground',
    given(post(DEPLOYMENTS, deployment('one'))),
    del(`${DEPLOYMENTS}/one`, { propagationPolicy: 'Foreground' }),
    get(`${DEPLOYMENTS}/one`, { untilCode: 404 }),
  ),
  script(
    'delete and orphan',
    given(post(DEPLOYMENTS, deployment('one'))),
    del(`${DEPLOYMENTS}/one`, { propagationPolicy: 'Orphan' }),
    get(`${DEPLOYMENTS}/one`, { untilCode: 404 }),
  ),
  script(
    'delete in the background',
    given(post(DEPLOYMENTS, deployment('one'))),
    del(`${DEPLOYMENTS}/one?propagationPolicy=Background`),
  ),
  script(
    'delete with an unknown policy',
    given(post(DEPLOYMENTS, deployment('one'))),
    del(`${DEPLOYMENTS}/one?propagationPolicy=Quickly`),
  ),
  script(
    'delete with a policy and the old flag',
    given(post(DEPLOYMENTS, deployment('one'))),
    del(`${DEPLOYMENTS}/one`, { propagationPolicy: 'Orphan', orphanDependents: true }),
  ),
  script(
    'delete with a body of another kind',
    given(post(MAPS, configMap('one'))),
    del(`${MAPS}/one`, { apiVersion: 'v1', kind: 'Pod' }),
  ),
  script('delete with nonsense', given(post(MAPS, configMap('one'))), del(`${MAPS}/one`, '{"a"')),
  script(
    'delete a collection',
    given(post(MAPS, configMap('alpha', {}, { labels: { a: 'b' } }))),
    given(post(MAPS, configMap('beta', {}, { labels: { a: 'b' } }))),
    given(post(MAPS, configMap('gamma', {}, { labels: { a: 'c' } }))),
    del(`${MAPS}?labelSelector=a%3Db`),
    get(`${MAPS}?labelSelector=a`),
  ),
  script(
    'delete a collection with finalizers',
    given(post(MAPS, configMap('alpha', {}, { ...kept, labels: { a: 'b' } }))),
    del(`${MAPS}?labelSelector=a%3Db`),
    get(`${MAPS}?labelSelector=a`),
  ),
  script(
    'delete a collection of pods',
    given(post(PODS, pod('one', {}, { nodeName: 'n' }))),
    given(post(PODS, pod('two'))),
    del(PODS),
    get(PODS),
  ),
  script(
    'delete a collection for practice',
    given(post(MAPS, configMap('alpha', {}, { labels: { a: 'b' } }))),
    del(`${MAPS}?labelSelector=a%3Db&dryRun=All`),
    get(`${MAPS}?labelSelector=a`),
  ),
  bare('delete all namespaces', del('/api/v1/namespaces')),
  script(
    'dependents go with their owner',
    given(post(MAPS, configMap('owner'))),
    (answers) => given(post(MAPS, configMap('child', {}, ownedBy(answers[0])))),
    given(get(`${MAPS}/child`)),
    del(`${MAPS}/owner`),
    get(`${MAPS}/child`, { untilCode: 404 }),
  ),
  script(
    'orphans stay',
    given(post(MAPS, configMap('owner'))),
    (answers) => given(post(MAPS, configMap('child', {}, ownedBy(answers[0])))),
    del(`${MAPS}/owner`, { propagationPolicy: 'Orphan' }),
    get(`${MAPS}/owner`, { untilCode: 404 }),
    get(`${MAPS}/child`, { until: (body) => (body['metadata'] as Json)['ownerReferences'] === undefined }),
  ),
  script(
    'an owner waits for what blocks it',
    given(post(MAPS, configMap('owner'))),
    (answers) =>
      given(post(MAPS, configMap('child', {}, { ...kept, ...ownedBy(answers[0], { blockOwnerDeletion: true }) }))),
    del(`${MAPS}/owner`, { propagationPolicy: 'Foreground' }),
    get(`${MAPS}/child`, { until: (body) => (body['metadata'] as Json)['deletionTimestamp'] !== undefined }),
    get(`${MAPS}/owner`),
    given(patch('merge', `${MAPS}/child`, { metadata: { finalizers: null } })),
    get(`${MAPS}/owner`, { untilCode: 404 }),
  ),
  script(
    'an owner that never was',
    given(
      post(
        MAPS,
        configMap(
          'child',
          {},
          {
            ownerReferences: [
              { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '00000000-0000-0000-0000-000000000001' },
            ],
          },
        ),
      ),
    ),
    get(`${MAPS}/child`, { untilCode: 404 }),
  ),
  script(
    'one of two owners goes',
    given(post(MAPS, configMap('owner'))),
    given(post(MAPS, configMap('second'))),
    (answers) =>
      given(
        post(
          MAPS,
          configMap(
            'child',
            {},
            {
              ownerReferences: [0, 1].map((index) => ({
                apiVersion: 'v1',
                kind: 'ConfigMap',
                name: index === 0 ? 'owner' : 'second',
                uid: metadataOf(answers[index])['uid'],
              })),
            },
          ),
        ),
      ),
    given(del(`${MAPS}/owner`)),
    get(`${MAPS}/child`, {
      until: (body) => ((body['metadata'] as Json)['ownerReferences'] as unknown[]).length === 1,
    }),
  ),
  script(
    'a namespace ends',
    given(post('/api/v1/namespaces', { metadata: { name: 'NS-child' } })),
    given(post('/api/v1/namespaces/NS-child/configmaps', configMap('one'))),
    del('/api/v1/namespaces/NS-child'),
    get('/api/v1/namespaces/NS-child', { untilCode: 404 }),
    get('/api/v1/namespaces/NS-child/configmaps'),
  ),
  script(
    'nothing new in a namespace that ends',
    given(post('/api/v1/namespaces', { metadata: { name: 'NS-child' } })),
    given(post('/api/v1/namespaces/NS-child/configmaps', configMap('one', {}, kept))),
    given(del('/api/v1/namespaces/NS-child')),
    post('/api/v1/namespaces/NS-child/configmaps', configMap('two'), { untilCode: 403 }),
    given(patch('merge', '/api/v1/namespaces/NS-child/configmaps/one', { metadata: { finalizers: null } })),
    get('/api/v1/namespaces/NS-child', { untilCode: 404 }),
  ),
  bare('delete the default namespace', del('/api/v1/namespaces/default')),
  bare('delete kube-system', del('/api/v1/namespaces/kube-system')),
];
