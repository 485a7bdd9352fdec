/** The outcome of a kubelet's attempt to pull the images of a pod from registries that need a sign-in. */
import type { Pod } from '../../api/kinds.ts';
import type { LocalArm } from '../arm/localArm.ts';
import { bootedKubelet } from './bootInstance.ts';

export interface FailedPull {
  readonly image: string;
  readonly message: string;
}

/** AKS's own nodes have a way to registries that their script does not tell of. */
const MADE_BY_AKS = 'aks-managed-poolName';

/** The first image that the node cannot get; undefined when it gets all of them. */
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

/** The kubelet asks its credential provider, which signs in with the identity of the node's cloud configuration. */
function isAllowed(arm: LocalArm, node: string, host: string): boolean {
  const vm = arm.virtualMachine(node);
  if (vm === undefined || vm.tags[MADE_BY_AKS] !== undefined) return true;
  const kubelet = bootedKubelet(vm);
  return arm.pullRight(node, host, kubelet?.registryIdentity ?? '') !== 'denied';
}
