/** What the server says about itself. */
import { bare, get, post, type Script } from '../script.ts';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const GROUPS = [
  'apps',
  'batch',
  'policy',
  'autoscaling',
  'coordination.k8s.io',
  'storage.k8s.io',
  'scheduling.k8s.io',
  'rbac.authorization.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'admissionregistration.k8s.io',
  'resource.k8s.io',
  'apiextensions.k8s.io',
  'authorization.k8s.io',
  'authentication.k8s.io',
  'certificates.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'apiregistration.k8s.io',
];

export const discoveryScripts: readonly Script[] = [
  bare('version', get('/version')),
  bare('healthz', get('/healthz')),
  bare('livez', get('/livez')),
  bare('readyz', get('/readyz')),
  bare('one readiness check', get('/readyz/ping')),
  bare('core versions', get('/api')),
  bare('group list', get('/apis')),
  bare('core resources', get('/api/v1')),
  bare('core version that is not there', get('/api/v2')),
  bare('group that is not there', get('/apis/nothing.example.com')),
  bare('version of a group that is not there', get('/apis/apps/v7')),
  bare('resource that is not there', get('/api/v1/namespaces/default/gadgets')),
  bare('resource of a group that is not there', get('/apis/apps/v1/namespaces/default/gadgets')),
  bare('resource of an unknown group', get('/apis/nothing.example.com/v1/gadgets')),
  bare('path that is not there', get('/nothing')),
  ...GROUPS.flatMap((group) => [bare(`group ${group}`, get(`/apis/${group}`))]),
  ...GROUPS.map((group) =>
    bare(`resources of ${group}`, get(`/apis/${group}/${group === 'autoscaling' ? 'v2' : 'v1'}`)),
  ),
  bare('resources of autoscaling/v1', get('/apis/autoscaling/v1')),
  bare('aggregated discovery of the core', get('/api', { accept: AGGREGATED })),
  bare('aggregated discovery of groups', get('/apis', { accept: AGGREGATED })),
  bare(
    'may I',
    post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { namespace: 'default', verb: 'create', resource: 'pods' } },
    }),
  ),
  bare(
    'who am I',
    post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
    }),
  ),
  bare('post to a document', post('/version', {})),
];
