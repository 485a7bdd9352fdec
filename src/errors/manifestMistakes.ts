/** Mistakes in manifests read by a plan or a conversion, and content that a plan ignores, by code. */

/** The object, such as `Deployment shop/web`, and the field in it. */
export interface MistakePlace {
  readonly title: string;
  readonly field: string;
}

interface MistakeEntry<Data extends object> {
  /** When it is reported, one sentence for docs/errors.md. */
  readonly about: string;
  /** The mistake, with object and field if any, without a full stop. */
  readonly what: (data: Data & MistakePlace) => string;
  readonly example: Data & MistakePlace;
}

function mistake<Data extends object>(entry: MistakeEntry<Data>): MistakeEntry<Data> {
  return entry;
}

const WEB = 'Deployment shop/web';
const SCALER = 'HorizontalPodAutoscaler shop/web';
const POOL = 'NodePool general';

export const manifestMistakes = {
  NotYaml: mistake<{ readonly problem: string }>({
    about: 'A document is neither YAML nor JSON.',
    what: ({ problem }) => `not valid YAML: ${problem}`,
    example: { title: '', field: '', problem: 'bad indentation of a mapping entry' },
  }),
  NotAnObject: mistake<object>({
    about: 'A document, or an item of a List, is not a Kubernetes object.',
    what: ({ field }) => `${field === '' ? 'this' : field} is not a Kubernetes object`,
    example: { title: '', field: 'items.0' },
  }),
  KindMissing: mistake<object>({
    about: 'An object does not say what it is.',
    what: () => 'an object needs apiVersion and kind',
    example: { title: '', field: '' },
  }),
  Repeated: mistake<{ readonly source: string; readonly line: number }>({
    about: 'The same object is given twice; the first one counts.',
    what: ({ title, source, line }) => `${title} already exists, in ${source}:${line}`,
    example: { title: WEB, field: 'metadata.name', source: 'web.yaml', line: 3 },
  }),
  FieldRequired: mistake<object>({
    about: 'A field that must be there is missing.',
    what: ({ title, field }) => `${title}: ${field}: Required value`,
    example: { title: WEB, field: 'metadata.name' },
  }),
  FieldRefused: mistake<{ readonly problem: string }>({
    about: 'The API server would refuse a field; the problem has its text.',
    what: ({ title, problem }) => `${title}: ${problem}`,
    example: { title: POOL, field: 'spec.weight', problem: 'spec.weight: Invalid value: 0: should be at least 1' },
  }),
  NoSuchVersion: mistake<{ readonly apiVersion: string }>({
    about: 'A kind is given in a version that it does not have.',
    what: ({ title, apiVersion }) => `${title}: there is no version ${apiVersion}`,
    example: { title: POOL, field: 'apiVersion', apiVersion: 'karpenter.sh/v2' },
  }),
  ForeignNodeClass: mistake<{ readonly nodeClass: string }>({
    about: 'A NodePool refers to the node class of another cloud.',
    what: ({ title, field, nodeClass }) => `${title}: ${field}: ${nodeClass} is not a node class of Azure`,
    example: { title: POOL, field: 'spec.template.spec.nodeClassRef', nodeClass: 'EC2NodeClass.karpenter.k8s.aws' },
  }),
  NotAQuantity: mistake<{ readonly value: unknown }>({
    about: 'An amount of a resource cannot be read.',
    what: ({ title, field, value }) =>
      `${title}: ${field}: ${JSON.stringify(value)} is not a quantity such as 500m or 2Gi`,
    example: { title: WEB, field: 'spec.template.spec.containers[0].resources.requests.cpu', value: 'two' },
  }),
  NegativeQuantity: mistake<{ readonly value: unknown }>({
    about: 'An amount of a resource is below zero.',
    what: ({ title, field, value }) => `${title}: ${field}: ${JSON.stringify(value)} must not be negative`,
    example: { title: WEB, field: 'spec.template.spec.containers[0].resources.requests.cpu', value: '-1' },
  }),
  TooManyPods: mistake<{ readonly count: number; readonly limit: number }>({
    about: 'The manifests ask for more pods than a plan takes.',
    what: ({ title, count, limit }) => `${title}: ${count} more pods are too many; a plan takes ${limit}`,
    example: { title: WEB, field: 'spec.replicas', count: 1_000_000, limit: 200_000 },
  }),
  TargetIncomplete: mistake<object>({
    about: 'An autoscaler does not say what it scales.',
    what: ({ title, field }) => `${title}: ${field}: kind and name are required`,
    example: { title: SCALER, field: 'spec.scaleTargetRef' },
  }),
  NotACount: mistake<{ readonly value: unknown; readonly least: number }>({
    about: 'A number of replicas is not a whole number, or is too small.',
    what: ({ title, field, value, least }) =>
      `${title}: ${field}: ${JSON.stringify(value)} must be a whole number from ${least}`,
    example: { title: SCALER, field: 'spec.minReplicas', value: 1.5, least: 0 },
  }),
  LimitsCrossed: mistake<{ readonly least: number; readonly most: number }>({
    about: 'The largest size of an autoscaler is below its smallest.',
    what: ({ title, field, least, most }) => `${title}: ${field}: ${most} is less than minReplicas (${least})`,
    example: { title: SCALER, field: 'spec.maxReplicas', least: 3, most: 2 },
  }),
  KustomizationLeftOut: mistake<object>({
    about: 'A kustomization is among the manifests; `plan` warns and goes on, unless it is strict.',
    what: () => 'a kustomization is not built here; plan what `kustomize build` prints',
    example: { title: '', field: '' },
  }),
  KindLeftOut: mistake<{ readonly kind: string; readonly apiVersion: string }>({
    about: 'A kind may bring pods that a plan cannot know of; `plan` warns and goes on, unless it is strict.',
    what: ({ kind, apiVersion }) => `${kind} (${apiVersion}) is not a kind that a plan knows; left out with its pods`,
    example: { title: 'Widget thing', field: 'kind', kind: 'Widget', apiVersion: 'example.com/v1' },
  }),
} as const;

export type MistakeCode = keyof typeof manifestMistakes;
export type MistakeData<Code extends MistakeCode> =
  (typeof manifestMistakes)[Code] extends MistakeEntry<infer Data> ? Data : never;

export function mistakeText<Code extends MistakeCode>(
  code: Code,
  place: MistakePlace,
  data: MistakeData<Code>,
): string {
  const { what } = manifestMistakes[code] as unknown as MistakeEntry<MistakeData<Code>>;
  return what({ ...data, ...place });
}
