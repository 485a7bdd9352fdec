/** Decides whether a kubelet can pull the images of a pod from registries that need credentials. */
import type { Pod } from '../../api/kinds.ts';
import type { LocalArm } from '../arm/localArm.ts';
import { bootedKubelet } from './bootInstance.ts';

export interface FailedPull {
  readonly image: string;
  readonly message: string;
}

/** Tag of VMs of AKS's own pools, whose credentials for registries are not in their script. */
const MADE_BY_AKS = 'aks-managed-poolName';

/** Returns the first image that the node cannot pull, with the kubelet's message; undefined if there is none. */
export function failedPull(arm: LocalArm, { spec }: Pod): FailedPull | undefined {
  const images = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({ image = '' }) => image);
  const image = images.find((each) => {
    const host = each.split('/')[0] ?? '';
    return host.endsWith('.azurecr.io') && !isAllowed(arm, spec?.nodeName ?? '', host);
  });
  if (image === undefined) return undefined;
  const [host = '', ...path] = image.split('/');
  const repository = path.join('/').replace(/[:@].*$/, '');
  const message = `failed to pull and unpack image "${image}": failed to resolve reference "${image}": failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://${host}/oauth2/token?scope=repository%3A${encodeURIComponent(repository)}%3Apull&service=${host}: 401 Unauthorized`;
  return { image, message };
}

/** Whether the credential provider can pull with the identity in the node's cloud configuration. */
function isAllowed(arm: LocalArm, node: string, host: string): boolean {
  const vm = arm.virtualMachine(node);
  if (vm === undefined || vm.tags[MADE_BY_AKS] !== undefined) return true;
  const kubelet = bootedKubelet(vm);
  return arm.pullRight(node, host, kubelet?.registryIdentity ?? '') !== 'denied';
}
