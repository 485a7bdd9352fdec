/** Request to the node bootstrapping server. Its API uses numbers as enum values. */
import type { AksNodeClass } from '../../api/kinds/aksNodeClass.ts';
import { Labels } from '../../api/labels.ts';
import { capacityOf } from '../../catalogue/overhead.ts';
import { kubeletConfigOf, linuxConfigOf, localDnsProfileOf } from '../aksProfiles.ts';
import { concreteFamily, distroOf, isWithoutDnsCache } from '../images.ts';
import { formatTaint, installsGpuDriver, type BootstrapInput } from './bootstrapInput.ts';
import { gpuDriverOf } from './gpuDriver.ts';

type Json = Readonly<Record<string, unknown>>;

const LINUX = 2;
const OS_SKUS = { ubuntu: 1, azureLinux: 7 } as const;
const MODES = { system: 1, user: 2 } as const;
const DRIVER_TYPES = { grid: 2, cuda: 3 } as const;
const LOCAL_USER = 0;
const GIBI = 2 ** 30;

export interface BootstrappingInput extends BootstrapInput {
  readonly nodeClass: AksNodeClass;
  readonly imageId: string;
  readonly ephemeralDisk: boolean;
  readonly artifactStreaming: boolean;
}

export function bootstrappingRequest(input: BootstrappingInput): Json {
  const { shape, nodeClass, labels, taints, kubernetesVersion } = input;
  const { spec } = nodeClass;
  const family = concreteFamily(nodeClass, kubernetesVersion);
  const { vtpm, secureBoot } = spec?.security?.trustedLaunch ?? {};
  const linux = linuxConfigOf(spec);
  const localDns = isWithoutDnsCache(nodeClass) ? undefined : localDnsProfileOf(nodeClass);
  const memory = capacityOf(shape)['memory']?.value() ?? 0;
  return {
    provisionHelperValues: {
      skuCPU: shape.cpus,
      skuMemory: Math.ceil(memory / (1 - shape.memoryOverheadPercent) / GIBI),
    },
    provisionProfile: {
      name: '',
      architecture: input.architecture === 'arm64' ? 'Arm64' : 'x64',
      osType: LINUX,
      osSku: family.startsWith('AzureLinux') ? OS_SKUS.azureLinux : OS_SKUS.ubuntu,
      vmSize: input.instanceType,
      distro: distroOf(input.imageId),
      customNodeLabels: labels,
      orchestratorVersion: kubernetesVersion,
      vnetSubnetID: input.subnetId,
      storageProfile: input.ephemeralDisk ? 'Ephemeral' : 'ManagedDisks',
      nodeTaints: taints.regular.map(formatTaint),
      nodeInitializationTaints: taints.startup.map(formatTaint),
      securityProfile: {
        sshAccess: LOCAL_USER,
        ...(vtpm === undefined ? {} : { enableVTPM: vtpm }),
        ...(secureBoot === undefined ? {} : { enableSecureBoot: secureBoot }),
      },
      maxPods: shape.maxPods,
      vnetCidrs: [],
      ...(linux === undefined ? {} : { customLinuxOSConfig: linux }),
      enableFIPS: spec?.fipsMode === 'FIPS',
      artifactStreamingProfile: { enabled: input.artifactStreaming },
      ...(localDns === undefined ? {} : { localDNSProfile: localDns }),
      // The server distinguishes a missing list from an empty one.
      customKubeletConfig: { allowedUnsafeSysctls: null, ...kubeletConfigOf(spec) },
      mode: labels[Labels.aksMode] === 'system' ? MODES.system : MODES.user,
      ...gpuProfileOf(input),
    },
  };
}

function gpuProfileOf({ shape, spec, instanceType }: BootstrapInput): Json {
  if (shape.gpuManufacturer !== 'nvidia' || shape.gpus === 0) return {};
  const driverType = gpuDriverOf(instanceType).type.startsWith('grid') ? DRIVER_TYPES.grid : DRIVER_TYPES.cuda;
  return { gpuProfile: { installGPUDriver: installsGpuDriver(shape, spec), driverType } };
}
