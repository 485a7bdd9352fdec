/** Instance names of other clouds, and the similar family on Azure. */

export interface FamilyFacts {
  /** Value of `karpenter.azure.com/sku-family`. */
  readonly skuFamily: string;
  readonly arch: 'amd64' | 'arm64';
}

export interface InstanceFacts extends FamilyFacts {
  /** Undefined when the name does not tell. */
  readonly cpus: number | undefined;
}

export interface OtherCloud {
  readonly name: string;
  /** Domains of its labels, as in `karpenter.k8s.aws/instance-cpu`. */
  readonly domains: readonly string[];
  readonly category: (value: string) => string | undefined;
  readonly family: (value: string) => FamilyFacts | undefined;
  readonly instanceType: (value: string) => InstanceFacts | undefined;
  readonly cpusOfSize: (value: string) => number | undefined;
}

/** `m6gd`: letters, generation, features. */
const FAMILY = /^([a-z]+)-?(\d+)([a-z-]*)$/;

const AWS_CATEGORIES: Readonly<Record<string, string>> = {
  a: 'D',
  m: 'D',
  t: 'B',
  c: 'F',
  r: 'E',
  x: 'M',
  z: 'E',
  u: 'M',
  i: 'L',
  im: 'L',
  is: 'L',
  d: 'L',
  h: 'L',
  g: 'N',
  gr: 'N',
  p: 'N',
  hpc: 'H',
};

function awsFamily(value: string): FamilyFacts | undefined {
  const [, letters = '', generation = '', features = ''] = FAMILY.exec(value) ?? [];
  const skuFamily = AWS_CATEGORIES[letters] ?? (letters.startsWith('u') ? 'M' : undefined);
  if (skuFamily === undefined) return undefined;
  const isArm = features.startsWith('g') || (letters === 'a' && generation === '1');
  return { skuFamily, arch: isArm ? 'arm64' : 'amd64' };
}

/** Two vCPUs for `large`, four per `x` for the others. */
function awsCpus(size: string): number | undefined {
  if (size === 'large') return 2;
  const [, times] = /^(\d*)xlarge$/.exec(size) ?? [];
  return times === undefined ? undefined : 4 * Number(times || '1');
}

const GCP_FAMILIES: Readonly<Record<string, string>> = {
  e: 'D',
  n: 'D',
  t: 'D',
  c: 'F',
  h: 'H',
  m: 'M',
  x: 'M',
  a: 'N',
  g: 'N',
  z: 'L',
};
const GCP_ARM: ReadonlySet<string> = new Set(['t2a', 'c4a', 'n4a']);
const GCP_SHAPES: Readonly<Record<string, string>> = { highmem: 'E', highcpu: 'F', ultramem: 'M', megamem: 'M' };

function gcpFamily(value: string): FamilyFacts | undefined {
  const [, letters = ''] = FAMILY.exec(value) ?? [];
  const skuFamily = GCP_FAMILIES[letters];
  return skuFamily === undefined ? undefined : { skuFamily, arch: GCP_ARM.has(value) ? 'arm64' : 'amd64' };
}

const AWS: OtherCloud = {
  name: 'AWS',
  domains: ['karpenter.k8s.aws', 'eks.amazonaws.com'],
  category: (value) => AWS_CATEGORIES[value],
  family: awsFamily,
  instanceType: (value) => {
    const [family = '', size = ''] = value.split('.');
    const facts = awsFamily(family);
    return facts && { ...facts, cpus: awsCpus(size) };
  },
  cpusOfSize: awsCpus,
};

const GCP: OtherCloud = {
  name: 'Google Cloud',
  domains: ['karpenter.k8s.gcp', 'cloud.google.com'],
  category: (value) => GCP_FAMILIES[value],
  family: gcpFamily,
  instanceType: (value) => {
    const [family = '', shape = '', cpus = ''] = value.split('-');
    const facts = gcpFamily(family);
    const count = Number(cpus);
    return facts && { ...facts, skuFamily: GCP_SHAPES[shape] ?? facts.skuFamily, cpus: count > 0 ? count : undefined };
  },
  cpusOfSize: () => undefined,
};

const OTHER_CLOUDS: readonly OtherCloud[] = [AWS, GCP];

/** The cloud of a label or an API group. */
export function cloudOfDomain(domain: string): OtherCloud | undefined {
  return OTHER_CLOUDS.find(({ domains }) => domains.some((own) => domain === own || domain.endsWith(`.${own}`)));
}

/** Tells the cloud of an instance type from its name. */
export function otherInstanceType(name: string): InstanceFacts | undefined {
  return name.includes('.') ? AWS.instanceType(name) : GCP.instanceType(name);
}
