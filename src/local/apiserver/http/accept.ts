/** Content negotiation: selects the first representation in an Accept header that the server can produce. */
import { notAcceptable, unknownForm } from '../status.ts';

export interface Accepted {
  readonly as: 'json' | 'yaml' | 'table' | 'partialMetadata' | 'partialMetadataList' | 'aggregatedDiscovery';
  /** Version of the representation, for tables, metadata and discovery. */
  readonly version: string;
}

const FORMS: ReadonlyMap<string, Accepted['as']> = new Map([
  ['Table', 'table'],
  ['PartialObjectMetadata', 'partialMetadata'],
  ['PartialObjectMetadataList', 'partialMetadataList'],
  ['APIGroupDiscoveryList', 'aggregatedDiscovery'],
]);

const MEDIA_TYPES = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];
const STREAMS = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
const META = 'meta.k8s.io';

/** Returns the error when nothing in the header can be served; collections also offer watch streams. */
export function refuseAccept(header: string | undefined, isCollection: boolean): Error {
  const types = (header ?? '').split(',').map((entry) => (entry.split(';')[0] ?? '').trim());
  const isForm = types.includes('application/json') || types.includes('application/yaml');
  if (isForm) return unknownForm(MEDIA_TYPES);
  return notAcceptable(isCollection ? [...MEDIA_TYPES, ...STREAMS] : MEDIA_TYPES);
}

/** Returns undefined if nothing in the header can be served (only protobuf, for example). */
export function negotiate(header: string | undefined): Accepted | undefined {
  for (const entry of (header ?? '*/*').split(',')) {
    const [type = '', ...parameters] = entry.split(';').map((part) => part.trim());
    const values = new Map(parameters.map((parameter) => parameter.split('=') as [string, string]));
    if (type === 'application/yaml') return { as: 'yaml', version: 'v1' };
    if (type !== 'application/json' && type !== '*/*' && type !== 'application/*' && type !== '') continue;
    const as = values.get('as');
    if (as === undefined) return { as: 'json', version: 'v1' };
    const form = FORMS.get(as);
    const version = values.get('v') ?? 'v1';
    const isDiscovery = form === 'aggregatedDiscovery';
    if (isDiscovery ? version !== 'v2' && version !== 'v2beta1' : version !== 'v1' && version !== 'v1beta1') continue;
    if (!isDiscovery && (values.get('g') ?? META) !== META) continue;
    if (form !== undefined) return { as: form, version };
  }
  return undefined;
}
