/** Requests that are refused before the object is looked at: forms, sizes, versions; and the logs of pods. */
import { bare, del, get, given, patch, post, put, script, type Json, type Script } from '../script.ts';
import { configMap, CORE, deployment, DEPLOYMENTS, MAPS, pod, PODS } from './objects.ts';

/** More than the three MiB that a request may have. */
const TOO_LARGE = 'x'.repeat(3 * 1024 * 1024 + 1024);
/** More than the one MiB that a map may hold. */
const LARGE = 'x'.repeat(1024 * 1024 + 1);
const twoContainers = {
  containers: [
    { name: 'a', image: 'a:1' },
    { name: 'b', image: 'b:1' },
  ],
};
const initContainers = [{ name: 'first', image: 'a:1' }];
const one = given(post(MAPS, configMap('one')));
const accepts = (name: string, accept: string): Script =>
  script(`protocol: accept ${name}`, one, get(`${MAPS}/one`, { accept }), get(MAPS, { accept }));
const sends = (name: string, type: string, body: unknown = configMap('one')): Script =>
  script(`protocol: send ${name}`, post(MAPS, body, { type }), put(`${MAPS}/one`, body, { type }));
const tokenOf = (body: unknown): string => String(((body as Json)['metadata'] as Json)['continue']);

export const protocolScripts: readonly Script[] = [
  accepts('html', 'text/html'),
  accepts('xml', 'application/xml'),
  accepts('a table of another version', 'application/json;as=Table;v=v9;g=meta.k8s.io'),
  accepts('a form that there is not', 'application/json;as=Chair;v=v1;g=meta.k8s.io'),
  accepts('html or else anything', 'text/html,*/*'),
  bare(
    'protocol: writes in a form that is not offered',
    post('/api/v1/namespaces/default/configmaps', configMap('never'), { accept: 'text/html' }),
    del('/api/v1/namespaces/default/configmaps/never', undefined, { accept: 'text/html' }),
  ),
  sends('xml', 'application/xml', '<a/>'),
  sends('a form', 'application/x-www-form-urlencoded', 'a=b'),
  sends('an octet stream', 'application/octet-stream'),
  sends('json with a charset', 'application/json; charset=utf-8'),
  script('protocol: patch of no known type', one, patch('merge', `${MAPS}/one`, {}, { type: 'text/plain' })),
  script(
    'protocol: strategic patch of a yaml type',
    one,
    patch('merge', `${MAPS}/one`, {}, { type: 'application/yaml' }),
  ),
  script('protocol: create too large', post(MAPS, configMap('one', { key: TOO_LARGE }))),
  script('protocol: replace too large', one, put(`${MAPS}/one`, configMap('one', { key: TOO_LARGE }))),
  script('protocol: patch too large', one, patch('merge', `${MAPS}/one`, { data: { key: TOO_LARGE } })),
  script('protocol: a map with too much in it', post(MAPS, configMap('one', { key: LARGE }))),
  script(
    'protocol: the rest of a list that is forgotten',
    one,
    given(post(MAPS, configMap('two'))),
    given(get(`${MAPS}?limit=1`)),
    given(put(`${MAPS}/one`, configMap('one', { key: 'two' }))),
    { compact: true },
    (answers) => get(`${MAPS}?limit=1&continue=${encodeURIComponent(tokenOf(answers[2]?.body))}`, { until: isGone }),
    (answers) => get(`${MAPS}?continue=${encodeURIComponent(tokenOf(answers[4]?.body))}&labelSelector=!none`),
  ),
  script(
    'protocol: exactly a version that is forgotten',
    one,
    given(put(`${MAPS}/one`, configMap('one', { key: 'two' }))),
    { compact: true },
    get(`${MAPS}?resourceVersion=1&resourceVersionMatch=Exact`, { until: isGone }),
  ),
  script(
    'protocol: a secret with too much in it',
    post(`${CORE}/secrets`, { metadata: { name: 'one' }, stringData: { key: LARGE } }),
  ),
  script('protocol: logs of a pod that is not there', get(`${PODS}/one/log`)),
  script('protocol: logs without a node', given(post(PODS, pod('one'))), get(`${PODS}/one/log`)),
  script(
    'protocol: logs of one of several containers',
    given(post(PODS, pod('one', {}, { ...twoContainers, initContainers }))),
    get(`${PODS}/one/log`),
    get(`${PODS}/one/log?container=b`),
    get(`${PODS}/one/log?container=first`),
    get(`${PODS}/one/log?container=c`),
  ),
  script(
    'protocol: logs with numbers out of range',
    given(post(PODS, pod('one'))),
    get(`${PODS}/one/log?tailLines=-1`),
    get(`${PODS}/one/log?limitBytes=0`),
    get(`${PODS}/one/log?sinceSeconds=0`),
    get(`${PODS}/one/log?tailLines=-1&limitBytes=0&sinceSeconds=-3`),
  ),
  script(
    'protocol: the ways into a pod without a node',
    given(post(PODS, pod('one'))),
    get(`${PODS}/one/exec?command=ls&container=main&stdout=true`),
    get(`${PODS}/one/exec?command=ls&container=other&stdout=true`),
    get(`${PODS}/one/attach?stdout=true`),
    post(`${PODS}/one/portforward`, undefined),
  ),
  script(
    'protocol: logs of what is no pod',
    given(post(DEPLOYMENTS, deployment('one'))),
    get(`${DEPLOYMENTS}/one/log`),
    get(`${CORE}/services/one/log`),
  ),
];

/** A server that was just started may not have noticed yet. */
function isGone(body: Json): boolean {
  return body['code'] === 410;
}
