/** Inputs for starting an instance: cluster, class, instance type and claim. */
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { Taint } from '../../api/kinds/nodeTemplate.ts';
import type { AksNodeClassSpec } from '../../api/kinds/aksNodeClass.ts';
import { Taints } from '../../api/labels.ts';
import type { MachineShape } from '../../catalogue/overhead.ts';
import type { AzureSettings } from '../azureSettings.ts';
import type { SecurityGroup } from '../network.ts';

export interface BootstrapInput {
  readonly settings: AzureSettings;
  /** `Standard_D2s_v5`. */
  readonly instanceType: string;
  readonly shape: MachineShape;
  /** As in `kubernetes.io/arch`. */
  readonly architecture: string;
  readonly spec: AksNodeClassSpec | undefined;
  readonly subnetId: string;
  readonly securityGroup: SecurityGroup;
  /** Without a leading `v`. */
  readonly kubernetesVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: NodeTaints;
}

export interface NodeTaints {
  readonly regular: readonly Taint[];
  /** Removed once the node is initialized; includes the one that blocks pods until the node is registered. */
  readonly startup: readonly Taint[];
}

export function nodeTaints({ spec }: NodeClaim): NodeTaints {
  const regular = spec.taints ?? [];
  const startup = spec.startupTaints ?? [];
  const { key, effect } = Taints.unregistered;
  const present = [...regular, ...startup].some((taint) => taint.key === key && taint.effect === effect);
  return { regular, startup: present ? startup : [...startup, { key, effect }] };
}

/** `key=value:effect`, or `key:effect` without a value. */
export function formatTaint({ key, value = '', effect }: Taint): string {
  return value === '' ? `${key}:${effect}` : `${key}=${value}:${effect}`;
}

/** Whether the start-up code installs a GPU driver: only for NVIDIA, and unless the class disables it. */
export function installsGpuDriver(shape: MachineShape, spec: AksNodeClassSpec | undefined): boolean {
  return shape.gpuManufacturer === 'nvidia' && shape.gpus > 0 && spec?.gpu?.mode !== 'None';
}
