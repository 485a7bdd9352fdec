/** Launches VMs of ours: interface, start-up script, VM, and then the extensions. */
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import type { AzureSettings } from './azureSettings.ts';
import { nodeTaints, type BootstrapInput } from './bootstrap/bootstrapInput.ts';
import type { BootstrapTokens } from './bootstrap/bootstrapTokens.ts';
import type { BootstrappingClient } from './bootstrap/bootstrappingClient.ts';
import { bootstrappingRequest } from './bootstrap/bootstrappingRequest.ts';
import { renderCustomData } from './bootstrap/customData.ts';
import { LaunchError } from '../cloud/errors.ts';
import { launchDetail } from '../errors/launchProblems.ts';
import type { InstanceRecord } from './instanceRecord.ts';
import type { Launcher, LaunchOrder } from './launcher.ts';
import type { LaunchTracker } from './launchTracker.ts';
import { isManagedNetwork, parseSubnetId, type ClusterNetwork, type SecurityGroup } from './network.ts';
import { kubeletLabels, streamsArtifacts, wantsUltraSsd } from './nodeLabels.ts';
import { vmNameFor } from './providerId.ts';
import { billingExtensionOf, bootstrapExtensionOf, tagsOf, virtualMachineOf } from './virtualMachineBody.ts';
import type { Extension, VirtualMachines } from './virtualMachines.ts';

export interface VirtualMachineLauncherOptions {
  readonly settings: AzureSettings;
  readonly machines: VirtualMachines;
  readonly clusterNetwork: ClusterNetwork;
  readonly tracker: LaunchTracker;
  readonly tokens: BootstrapTokens;
  /** Absent: the start-up script is generated here. */
  readonly bootstrapping?: BootstrappingClient | undefined;
}

type Tags = Readonly<Record<string, string>>;

export class VirtualMachineLauncher implements Launcher {
  private readonly options: VirtualMachineLauncherOptions;

  constructor(options: VirtualMachineLauncherOptions) {
    this.options = options;
  }

  find(claim: NodeClaim, signal?: AbortSignal): Promise<InstanceRecord | undefined> {
    return this.options.machines.find(vmNameFor(claim.metadata.name), signal);
  }

  /** The bootstrapping server's command is no longer known: a VM without it does not join, and is replaced. */
  resume({ name, tags }: InstanceRecord, signal?: AbortSignal): void {
    this.follow(name, this.billing(tags), signal);
  }

  async launch(order: LaunchOrder, signal?: AbortSignal): Promise<InstanceRecord> {
    const { settings, machines, clusterNetwork, tracker } = this.options;
    const { claim, nodeClass, offering } = order.choice;
    const { sku, shape, image } = order;
    const name = vmNameFor(claim.metadata.name);
    const subnetId = nodeClass.spec?.vnetSubnetID ?? settings.vnetSubnetId;
    const subnet = parseSubnetId(subnetId);
    if (subnet === undefined) {
      throw new LaunchError('CreateInstanceFailed', launchDetail('NotASubnet', { subnet: subnetId }));
    }
    const tags = tagsOf(claim, nodeClass, settings);
    const securityGroup = await clusterNetwork.securityGroup(signal);
    const { customData, extensions } = await this.bootstrap(order, subnetId, securityGroup, tags, signal);
    const common = { name, settings, nodeClass, sku, offering, osDiskSizeGB: shape.osDiskSizeGB, customData, tags };
    const ultraSsd = wantsUltraSsd(claim);
    const { record, operation } = await machines.begin(
      {
        name,
        network: {
          location: settings.location,
          subnetId,
          securityGroupId: isManagedNetwork(subnet, settings.nodeResourceGroup) ? undefined : securityGroup.id,
          acceleratedNetworking: sku.acceleratedNetworking,
          maxPods: shape.maxPods,
          networking: settings,
          tags,
        },
        machine: (interfaceId) =>
          virtualMachineOf({
            ...common,
            imageId: image.id,
            ultraSsd,
            interfaceId,
            reservationGroup: order.reservationGroup,
          }),
      },
      signal,
    );
    const { onFailure } = order;
    tracker.follow(
      {
        name,
        finish: (until) => machines.finish(name, operation, until),
        remove: () => machines.removeFailed(name),
        extensions: [...extensions, ...this.billing(tags)],
        isResumed: false,
        onFailure,
      },
      signal,
    );
    return record;
  }

  async discard({ name }: InstanceRecord, signal?: AbortSignal): Promise<void> {
    await this.options.machines.remove(name, signal);
  }

  private follow(name: string, extensions: readonly Extension[], signal?: AbortSignal): void {
    const { machines, tracker } = this.options;
    const finish = (until: AbortSignal): Promise<boolean> => machines.finish(name, undefined, until);
    const remove = (): Promise<void> => machines.removeFailed(name);
    tracker.follow({ name, finish, remove, extensions, isResumed: true }, signal);
  }

  private async bootstrap(
    order: LaunchOrder,
    subnetId: string,
    securityGroup: SecurityGroup,
    tags: Tags,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly customData: string; readonly extensions: readonly Extension[] }> {
    const { settings, bootstrapping, tokens } = this.options;
    const { choice, sku, shape, image } = order;
    const { claim, nodeClass, type, kubernetesVersion } = choice;
    const kubeletBootstrapToken = await tokens.current(signal);
    const input: BootstrapInput = {
      settings: { ...settings, kubeletBootstrapToken },
      instanceType: sku.name,
      shape,
      architecture: sku.architecture ?? 'amd64',
      spec: nodeClass.spec,
      subnetId,
      securityGroup,
      kubernetesVersion,
      labels: kubeletLabels(choice, settings),
      taints: nodeTaints(claim),
    };
    if (bootstrapping === undefined) return { customData: renderCustomData(input), extensions: [] };
    const request = bootstrappingRequest({
      ...input,
      nodeClass,
      imageId: image.id,
      ephemeralDisk: sku.ephemeralDisk !== undefined && shape.osDiskSizeGB <= sku.ephemeralDisk.sizeGB,
      artifactStreaming: streamsArtifacts(nodeClass, type),
    });
    const { customData, command } = await bootstrapping.scriptsFor(request, kubeletBootstrapToken, signal);
    return { customData, extensions: [bootstrapExtensionOf(settings.location, tags, command)] };
  }

  private billing(tags: Tags): readonly Extension[] {
    const { billingExtension, location } = this.options.settings;
    return billingExtension ? [billingExtensionOf(location, tags)] : [];
  }
}
