/** AKSNodeClass: how AKS nodes are built. */
import type { KubeObject } from '../object.ts';
import { Groups } from '../labels.ts';
import { boolean, defaulted, integer, list, map, object, oneOf, required, string } from '../schema/builder.ts';
import type { Infer } from '../schema/builder.ts';
import type { KindDefinition } from '../schema/kindDefinition.ts';
import { kubelet } from './aksKubelet.ts';
import { linuxOsConfig } from './aksLinuxOs.ts';
import { localDns } from './aksLocalDns.ts';
import { conditionList } from './conditionList.ts';

const security = object(
  {
    encryptionAtHost: boolean({
      description: 'Encrypts temporary disks and caches on the host. Only sizes that support it are used.',
    }),
    trustedLaunch: object(
      {
        secureBoot: boolean({ description: 'Starts only signed boot loaders and kernels.' }),
        vtpm: boolean({ description: 'Gives the instance a virtual TPM.' }),
      },
      { description: 'Trusted Launch. On as soon as one of the two is true; only sizes that support it are used.' },
    ),
  },
  { description: 'Security settings of the instance.' },
);

const tags = map(string(), {
  description:
    'Tags for the Azure resources of each node. A change is applied to running nodes without replacing them. `/` in ' +
    'a key becomes `_`.',
  rules: [
    { rule: 'self.all(k, size(k) <= 512)', message: 'the key of a tag can have at most 512 characters' },
    {
      rule: `self.all(k, !k.matches('[<>%&?]'))`,
      message: `the key of a tag cannot contain '<', '>', '%', '&' or '?'`,
    },
    { rule: `self.all(k, !k.contains('\\\\'))`, message: `the key of a tag cannot contain '\\'` },
    { rule: 'self.all(k, size(self[k]) <= 256)', message: 'the value of a tag can have at most 256 characters' },
  ],
});

const FIPS = `(has(self.fipsMode) && self.fipsMode == 'FIPS')`;
const TRUSTED_LAUNCH =
  '(has(self.security) && has(self.security.trustedLaunch) && (' +
  '(has(self.security.trustedLaunch.vtpm) && self.security.trustedLaunch.vtpm) || ' +
  '(has(self.security.trustedLaunch.secureBoot) && self.security.trustedLaunch.secureBoot)))';

const spec = object(
  {
    artifactStreaming: object(
      { enabled: boolean({ description: 'Whether artifact streaming is on. It has no effect on arm64.' }) },
      { description: 'Starts containers while their images are still being downloaded.' },
    ),
    fipsMode: oneOf(['FIPS', 'Disabled'], {
      description: 'FIPS uses images whose cryptography is validated to FIPS 140. Unset means Disabled.',
    }),
    gpu: object(
      {
        mode: defaulted(
          oneOf(['Driver', 'None'], {
            description: 'Driver installs the GPU driver on instances with a GPU; None leaves that to you.',
          }),
          'Driver',
        ),
      },
      { description: 'What is installed on instances with a GPU.' },
    ),
    imageFamily: defaulted(
      oneOf(['Ubuntu', 'Ubuntu2204', 'Ubuntu2404', 'AzureLinux'], {
        description:
          'The operating system. Ubuntu and AzureLinux follow the release that suits the Kubernetes version of the ' +
          'cluster, Ubuntu2204 and Ubuntu2404 stay with theirs.',
      }),
      'Ubuntu',
    ),
    kubelet,
    linuxOSConfig: linuxOsConfig,
    localDNS: localDns,
    maxPods: integer({
      description: 'The most pods a node can run. Unset, it follows from the network plugin of the cluster.',
      format: 'int32',
      minimum: 10,
      maximum: 250,
    }),
    osDiskSizeGB: defaulted(
      integer({
        description: 'The size of the system disk in GB. It lies on local storage where the size has enough of it.',
        format: 'int32',
        minimum: 30,
        maximum: 2048,
      }),
      128,
    ),
    security,
    tags,
    vnetSubnetID: string({
      description: 'The resource ID of the subnet for the nodes. Unset, the subnet of the cluster is used.',
      pattern:
        '(?i)^\\/subscriptions\\/[^\\/]+\\/resourceGroups\\/[a-zA-Z0-9_\\-().]{0,89}[a-zA-Z0-9_\\-()]\\/providers' +
        '\\/Microsoft\\.Network\\/virtualNetworks\\/[^\\/]+\\/subnets\\/[^\\/]+$',
    }),
  },
  {
    description: 'How the instances are built. A change, other than of tags, replaces the nodes that use the class.',
    rules: [
      {
        rule: `!${FIPS} || (has(self.imageFamily) && self.imageFamily != 'Ubuntu2404')`,
        message: 'FIPS images of Ubuntu2404 do not exist yet; choose another imageFamily',
      },
      {
        rule: `!${FIPS} || (has(self.imageFamily) && (self.imageFamily != 'Ubuntu2204' || ${TRUSTED_LAUNCH}))`,
        message: 'FIPS images of Ubuntu2204 need Trusted Launch: set security.trustedLaunch.vtpm or secureBoot',
      },
      {
        rule: `!(${FIPS} && ${TRUSTED_LAUNCH}) || !has(self.imageFamily) || self.imageFamily == 'Ubuntu' || self.imageFamily == 'Ubuntu2204'`,
        message: 'FIPS together with Trusted Launch exists only for the image families Ubuntu and Ubuntu2204',
      },
      {
        rule: '!has(self.linuxOSConfig) || !has(self.linuxOSConfig.swapFileSize) || (has(self.kubelet) && has(self.kubelet.failSwapOn) && self.kubelet.failSwapOn == false)',
        message: 'linuxOSConfig.swapFileSize needs kubelet.failSwapOn to be set to false',
      },
    ],
  },
);

const selectorRequirement = object(
  {
    key: required(string({ description: 'The label that is compared.' })),
    operator: required(string({ description: 'In, NotIn, Exists, DoesNotExist, Gt or Lt.' })),
    values: list(string(), { description: 'What the label is compared with.', listType: 'atomic' }),
  },
  { description: 'One condition on a label of the instance type.' },
);

const status = object(
  {
    conditions: conditionList({ reasonAndMessage: 'required', uniqueTypes: false }),
    images: list(
      object(
        {
          id: required(string({ description: 'The resource ID of the image.' })),
          requirements: required(
            list(selectorRequirement, { description: 'The instance types that the image runs on.' }),
          ),
        },
        { description: 'An image and the instances it is for.' },
      ),
      { description: 'The images for new instances, best first.' },
    ),
    kubernetesVersion: string({ description: 'The Kubernetes version of new instances, without a leading v.' }),
    localDNSState: oneOf(['Enabled', 'Disabled'], { description: 'Whether new instances run the DNS cache.' }),
  },
  { description: 'What the class resolved to.' },
);

export type AksNodeClassSpec = Infer<typeof spec>;
export type AksNodeClassStatus = Infer<typeof status>;

/** `spec` may be missing: such an object is admitted, and nothing in it is defaulted. */
export interface AksNodeClass extends KubeObject {
  spec?: AksNodeClassSpec;
  status?: AksNodeClassStatus;
}

export const aksNodeClassDefinition: KindDefinition<AksNodeClassSpec, AksNodeClassStatus> = {
  group: Groups.azure,
  kind: 'AKSNodeClass',
  plural: 'aksnodeclasses',
  scope: 'Cluster',
  shortNames: ['aksnc', 'aksncs'],
  categories: ['karpenter', 'nap'],
  description:
    'An AKSNodeClass says how the instances of a NodePool are built on Azure: operating system, disk, subnet, ' +
    'kubelet and security settings.',
  versions: [
    { name: 'v1alpha2', storage: false, deprecationWarning: 'use v1beta1.AKSNodeClass instead' },
    { name: 'v1beta1', storage: true },
  ],
  columns: [
    { name: 'Ready', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'ImageFamily', type: 'string', jsonPath: '.spec.imageFamily', priority: 1 },
  ],
  spec,
  status,
};
