/** Get, list and watch. */
import { bare, del, get, given, patch, post, put, script, type Answer, type Json, type Script } from '../script.ts';
import { configMap, MAPS, pod, PODS } from './objects.ts';

const META = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const META_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

const three = [
  given(post(MAPS, configMap('alpha', {}, { labels: { app: 'a', tier: 'web' } }))),
  given(post(MAPS, configMap('beta', {}, { labels: { app: 'b', tier: 'web' } }))),
  given(post(MAPS, configMap('gamma', {}, { labels: { app: 'c' } }))),
];

const labelled = (name: string, selector: string): Script =>
  script(`list by label: ${name}`, ...three, get(`${MAPS}?labelSelector=${encodeURIComponent(selector)}`));

const versionOf = (answer: Answer | undefined): string =>
  String(((answer?.body as Json | undefined)?.['metadata'] as Json | undefined)?.['resourceVersion']);
const tokenOf = (answer: Answer | undefined): string =>
  String(((answer?.body as Json | undefined)?.['metadata'] as Json | undefined)?.['continue']);

export const readingScripts: readonly Script[] = [
  script('get', given(post(MAPS, configMap('one'))), get(`${MAPS}/one`)),
  script('get what is not there', get(`${MAPS}/one`)),
  script('get from a namespace that is not there', get('/api/v1/namespaces/nowhere/configmaps/one')),
  script('get as metadata', given(post(MAPS, configMap('one'))), get(`${MAPS}/one`, { accept: META })),
  script('list as metadata', ...three, get(`${MAPS}`, { accept: META_LIST })),
  script('list as metadata with the singular form', ...three, get(`${MAPS}`, { accept: META })),
  script('list', ...three, get(MAPS)),
  script('list nothing', get(PODS)),
  bare('list a namespace that is not there', get('/api/v1/namespaces/nowhere/pods')),
  bare('get with an accept that is not offered', get('/api/v1/namespaces/default', { accept: 'image/png' })),
  labelled('equality', 'app=a'),
  labelled('double equality', 'app==a'),
  labelled('inequality', 'app!=a,tier=web'),
  labelled('in', 'app in (a,c)'),
  labelled('notin', 'app notin (a),tier'),
  labelled('exists', 'tier'),
  labelled('does not exist', '!tier,app'),
  labelled('two requirements', 'app=a,tier=web'),
  labelled('nonsense', 'app=(a'),
  labelled('a bad value', 'app=a b'),
  labelled('a bad key', '-app=a'),
  labelled('greater than', 'app>3'),
  script('list by field: name', ...three, get(`${MAPS}?fieldSelector=metadata.name=beta`)),
  script(
    'list by field: not name',
    ...three,
    get(`${MAPS}?fieldSelector=metadata.name!=beta,metadata.name!=kube-root-ca.crt`),
  ),
  script('list by field: namespace', ...three, get('/api/v1/configmaps?fieldSelector=metadata.namespace=NS')),
  script('list by field: unknown', get(`${PODS}?fieldSelector=spec.nothing=1`)),
  script('list by field: unknown for a plain kind', get(`${MAPS}?fieldSelector=data.key=1`)),
  script('list by field: nonsense', get(`${PODS}?fieldSelector=nonsense`)),
  script(
    'list pods by node and phase',
    given(post(PODS, pod('here', {}, { nodeName: 'node-1' }))),
    given(post(PODS, pod('there', {}, { nodeName: 'node-2' }))),
    get(`${PODS}?fieldSelector=spec.nodeName=node-1,status.phase=Pending`),
  ),
  script('list pages', ...three, get(`${MAPS}?limit=2&labelSelector=app`), (answers) =>
    get(`${MAPS}?limit=2&labelSelector=app&continue=${tokenOf(answers.at(-1))}`),
  ),
  script('list pages without a selector', ...three, get(`${MAPS}?limit=1`), (answers) =>
    get(`${MAPS}?limit=1&continue=${tokenOf(answers.at(-1))}`),
  ),
  script(
    'a page shows the list as it was at the first page',
    ...three,
    get(`${MAPS}?limit=1&labelSelector=app`),
    given(del(`${MAPS}/beta`)),
    (answers) => get(`${MAPS}?limit=5&labelSelector=app&continue=${tokenOf(answers[3])}`),
  ),
  script('list with a broken continue token', get(`${MAPS}?limit=1&continue=nonsense`)),
  script('list with continue and a version', ...three, get(`${MAPS}?limit=1`), (answers) =>
    get(`${MAPS}?limit=1&resourceVersion=${versionOf(answers[0])}&continue=${tokenOf(answers.at(-1))}`),
  ),
  script(
    'list at version 0',
    ...three,
    get(`${MAPS}?resourceVersion=0&labelSelector=app`, {
      until: (body) => (body['items'] as unknown[]).length === 3,
    }),
  ),
  script('list exactly at a version', ...three, (answers) =>
    get(`${MAPS}?resourceVersion=${versionOf(answers[1])}&resourceVersionMatch=Exact&labelSelector=app`),
  ),
  script('list not older than a version', ...three, (answers) =>
    get(`${MAPS}?resourceVersion=${versionOf(answers[1])}&resourceVersionMatch=NotOlderThan&labelSelector=app`),
  ),
  script('list with a match but no version', get(`${MAPS}?resourceVersionMatch=Exact`)),
  script('list exactly at version 0', get(`${MAPS}?resourceVersion=0&resourceVersionMatch=Exact`)),
  script('list with an unknown match', get(`${MAPS}?resourceVersion=1&resourceVersionMatch=Perhaps`)),
  script('list with a version that is no number', get(`${MAPS}?resourceVersion=abc`)),
  script('list with initial events', get(`${MAPS}?sendInitialEvents=true`)),
  script('list with a negative limit', ...three, get(`${MAPS}?limit=-1&labelSelector=app`)),
  script('list with a limit that is no number', get(`${MAPS}?limit=many`)),
  script('watch from a version', ...three, given(del(`${MAPS}/beta`)), (answers) =>
    get(`${MAPS}?watch=true&timeoutSeconds=1&resourceVersion=${versionOf(answers[0])}`),
  ),
  script('watch from the start', ...three, get(`${MAPS}?watch=true&timeoutSeconds=1&labelSelector=app`)),
  script('watch changes as they come', given(post(MAPS, configMap('alpha', {}, { labels: { app: 'a' } }))), (answers) =>
    get(`${MAPS}?watch=true&timeoutSeconds=2&resourceVersion=${versionOf(answers[0])}`, {
      during: [
        post(MAPS, configMap('beta')),
        patch('merge', `${MAPS}/beta`, { data: { more: 'yes' } }),
        del(`${MAPS}/beta`),
      ],
    }),
  ),
  script(
    'watch through a selector',
    given(post(MAPS, configMap('alpha', {}, { labels: { app: 'a' } }))),
    given(patch('merge', `${MAPS}/alpha`, { metadata: { labels: { app: 'b' } } })),
    given(patch('merge', `${MAPS}/alpha`, { metadata: { labels: { app: 'a' } } })),
    given(patch('merge', `${MAPS}/alpha`, { data: { more: 'yes' } })),
    given(del(`${MAPS}/alpha`)),
    (answers) =>
      get(`${MAPS}?watch=true&timeoutSeconds=1&labelSelector=app%3Da&resourceVersion=${versionOf(answers[0])}`),
  ),
  script('watch one object', ...three, given(patch('merge', `${MAPS}/beta`, { data: { a: 'b' } })), (answers) =>
    get(
      `${MAPS}?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3Dbeta&resourceVersion=${versionOf(answers[0])}`,
    ),
  ),
  script(
    'watch with initial events',
    ...three,
    get(
      `${MAPS}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=app`,
    ),
  ),
  script('watch with initial events but no match', get(`${MAPS}?watch=true&timeoutSeconds=1&sendInitialEvents=true`)),
  script(
    'watch without initial events',
    ...three,
    get(
      `${MAPS}?watch=true&timeoutSeconds=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&labelSelector=app`,
    ),
  ),
  script(
    'watch with a match but without initial events',
    get(`${MAPS}?watch=true&timeoutSeconds=1&resourceVersionMatch=NotOlderThan`),
  ),
  script('watch as a table', ...three, (answers) =>
    get(`${MAPS}?watch=true&timeoutSeconds=1&resourceVersion=${versionOf(answers[0])}`, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    }),
  ),
  script('watch as metadata', ...three, (answers) =>
    get(`${MAPS}?watch=true&timeoutSeconds=1&resourceVersion=${versionOf(answers[0])}`, { accept: META }),
  ),
  script(
    'watch from a version that is forgotten',
    ...three,
    { compact: true },
    get(`${MAPS}?watch=true&timeoutSeconds=1&resourceVersion=1`),
  ),
  script('watch from a version that is no number', get(`${MAPS}?watch=true&timeoutSeconds=1&resourceVersion=abc`)),
  script(
    'watch a deletion',
    given(post(MAPS, configMap('one'))),
    given(put(`${MAPS}/one`, configMap('one', { key: 'two' }))),
    given(del(`${MAPS}/one`)),
    (answers) => get(`${MAPS}?watch=true&timeoutSeconds=1&resourceVersion=${versionOf(answers[0])}`),
  ),
  script(
    'get as yaml',
    given(post(MAPS, configMap('one', { a: 'b' }))),
    get(`${MAPS}/one`, { accept: 'application/yaml', quiet: true }),
    get(`${MAPS}/none`, { accept: 'application/yaml' }),
  ),
  script('head', get(MAPS)),
];
