/** Content negotiation. In: an Accept header. Out: the first form in it that the server can produce. */
export interface Accepted {
  readonly as: 'json' | 'yaml' | 'table' | 'partialMetadata' | 'partialMetadataList' | 'aggregatedDiscovery';
  /** Version of the representation, for tables, metadata and discovery. */
  readonly version: string;
}

const FORMS: Readonly<Record<string, Accepted['as']>> = {
  Table: 'table',
  PartialObjectMetadata: 'partialMetadata',
  PartialObjectMetadataList: 'partialMetadataList',
  APIGroupDiscoveryList: 'aggregatedDiscovery',
};

/** `undefined` when nothing in the header can be served (protobuf only, for example). */
export function negotiate(header: string | undefined): Accepted | undefined {
  for (const entry of (header ?? '*/*').split(',')) {
    const [type = '', ...parameters] = entry.split(';').map((part) => part.trim());
    const values = new Map(parameters.map((parameter) => parameter.split('=') as [string, string]));
    if (type === 'application/yaml') return { as: 'yaml', version: 'v1' };
    if (type !== 'application/json' && type !== '*/*' && type !== 'application/*' && type !== '') continue;
    const as = values.get('as');
    if (as === undefined) return { as: 'json', version: 'v1' };
    const form = FORMS[as];
    const version = values.get('v') ?? 'v1';
    if (form === 'aggregatedDiscovery' && version !== 'v2' && version !== 'v2beta1') continue;
    if (form !== undefined) return { as: form, version };
  }
  return undefined;
}
