/**
 * Computes the status of a node class (Kubernetes version, images, subnet, validation, local DNS and readiness), and
 * when to check again.
 */
import type { AksNodeClass, AksNodeClassStatus } from '../api/kinds/aksNodeClass.ts';
import { AKS_NODE_CLASS_CONDITIONS, ConditionSet, findCondition } from '../api/conditions.ts';
import { AksNodeClassConditions } from '../api/conditionTypes.ts';
import type { ConfigMap } from '../api/kinds.ts';
import type { Condition } from '../api/object.ts';
import type { Clock } from '../clock/clock.ts';
import type { Kube } from '../kube/kube.ts';
import { conditionText, imagesSince, type ConditionCause } from '../ledger/conditionText.ts';
import type { AzureSettings } from './azureSettings.ts';
import type { AzureClients } from './clients.ts';
import { classImages, versionsOf, type ClassImages, type ImagesPreview } from './classImages.ts';
import { pinnedVersion, type Images, type NodeImage } from './images.ts';
import { describeFailure } from './launchErrors.ts';
import { localDnsState } from './localDns.ts';
import { isMaintenanceWindowOpen, MAINTENANCE_WINDOW } from './maintenanceWindow.ts';
import { isManagedNetwork, parseSubnetId } from './network.ts';
import type { SubnetAddresses } from './subnetAddresses.ts';
import { unsupportedField } from './unsupportedField.ts';

export interface NodeClassResult {
  readonly status: AksNodeClassStatus;
  readonly previews: readonly ImagesPreview[];
  /** Milliseconds until the next check. */
  readonly requeueAfter: number;
  /** Errors that occurred; the rest of the status is still valid. */
  readonly errors: readonly unknown[];
}

/** State of the cluster on which a class's status depends. */
export interface ControlPlane {
  /** Version of the API server, without a leading `v`. */
  version(signal?: AbortSignal): Promise<string>;
  /** AKS's next maintenance window; undefined: none. Throws while it is unknown. */
  maintenanceWindow(): ConfigMap | undefined;
}

interface AzureNodeClassOptions {
  readonly clients: AzureClients;
  readonly images: Images;
  readonly settings: AzureSettings;
  readonly kube: Kube;
  readonly clock: Clock;
  readonly addresses: SubnetAddresses;
}

/** What keeps a condition from being true, in ledger/'s terms. */
type Finding = typeof FOUND | ConditionCause;

const FOUND = { kind: 'found' } as const;
const MINUTE = 60_000;
const IMAGES_INTERVAL = 5 * MINUTE;
const SUBNET_INTERVAL = 3 * MINUTE;
const FORBIDDEN_INTERVAL = MINUTE;
const ENCRYPTION_INTERVAL = 60 * MINUTE;

export class AzureNodeClass {
  private readonly options: AzureNodeClassOptions;
  private encryption: { readonly finding: Finding; readonly until: number } | undefined;

  constructor(options: AzureNodeClassOptions) {
    this.options = options;
  }

  /** The ConfigMap behind `ControlPlane.maintenanceWindow`; undefined: this process has no namespace. */
  get windowRef(): { readonly namespace: string; readonly name: string } | undefined {
    const { systemNamespace: namespace } = this.options.settings;
    return namespace === '' ? undefined : { namespace, name: MAINTENANCE_WINDOW };
  }

  /** Drops data about a deleted class or a class without its subnet. */
  forget(name: string): void {
    this.options.addresses.forget(name);
  }

  async reconcileStatus(
    nodeClass: AksNodeClass,
    controlPlane: ControlPlane,
    signal?: AbortSignal,
  ): Promise<NodeClassResult> {
    const errors: unknown[] = [];
    const attempt = async <T>(work: Promise<T>): Promise<T | undefined> => {
      try {
        return await work;
      } catch (error) {
        errors.push(error);
        return undefined;
      }
    };
    const findings = new Map<string, Finding>();
    const served = await attempt(controlPlane.version(signal));
    const version = newerVersion(nodeClass.status?.kubernetesVersion, served);
    if (version !== undefined) findings.set(AksNodeClassConditions.kubernetesVersionReady, FOUND);
    const mayMove = (): boolean => {
      try {
        return isMaintenanceWindowOpen(controlPlane.maintenanceWindow(), this.options.clock.now());
      } catch (error) {
        errors.push(error);
        return false;
      }
    };
    const images =
      version === undefined ? undefined : await attempt(this.resolveImages(nodeClass, version, mayMove, signal));
    if (images !== undefined) findings.set(AksNodeClassConditions.imagesReady, images.finding);
    const subnet = await attempt(this.checkSubnet(nodeClass, errors, signal));
    if (subnet !== undefined) findings.set(AksNodeClassConditions.subnetsReady, subnet);
    if (isFailed(subnet)) this.forget(nodeClass.metadata.name);
    const validation =
      unsupportedField(nodeClass, this.options.settings) ?? (await attempt(this.encryptionFinding(signal)));
    if (validation !== undefined) findings.set(AksNodeClassConditions.validationSucceeded, validation);
    const localDns = version === undefined ? undefined : await this.resolveLocalDns(nodeClass, version, errors, signal);
    if (localDns !== undefined) findings.set(AksNodeClassConditions.localDnsReady, localDns.finding);
    const resolved = images?.images ?? nodeClass.status?.images;
    return {
      status: {
        ...nodeClass.status,
        ...(resolved === undefined ? {} : { images: [...resolved] }),
        ...(version === undefined ? {} : { kubernetesVersion: version }),
        ...(localDns?.state === undefined ? {} : { localDNSState: localDns.state }),
        conditions: this.conditions(nodeClass, findings, resolved),
      },
      previews: images?.previews ?? [],
      requeueAfter: Math.min(isFailed(validation) ? FORBIDDEN_INTERVAL : IMAGES_INTERVAL, SUBNET_INTERVAL),
      errors,
    };
  }

  private async resolveImages(
    nodeClass: AksNodeClass,
    kubernetesVersion: string,
    isWindowOpen: () => boolean,
    signal: AbortSignal | undefined,
  ): Promise<ClassImages & { readonly finding: Finding }> {
    if (nodeClass.spec?.fipsMode === 'FIPS' && !this.options.images.hasFips) {
      return { images: [], previews: [], finding: { kind: 'fipsImagesMissing' } };
    }
    const found = await classImages(
      this.options.images,
      {
        nodeClass,
        kubernetesVersion,
        isUpgrade: kubernetesVersion !== nodeClass.status?.kubernetesVersion,
        isWindowOpen,
      },
      signal,
    );
    if (found.images.length > 0) return { ...found, finding: FOUND };
    return { ...found, finding: { kind: 'imagesMissing', version: pinnedVersion(nodeClass) } };
  }

  private async resolveLocalDns(
    nodeClass: AksNodeClass,
    version: string,
    errors: unknown[],
    signal: AbortSignal | undefined,
  ): Promise<{ readonly state?: 'Enabled' | 'Disabled'; readonly finding: Finding }> {
    try {
      return { state: await localDnsState(nodeClass, version, this.options, signal), finding: FOUND };
    } catch (error) {
      errors.push(error);
      const problem = error instanceof Error ? error.message : String(error);
      return { finding: { kind: 'clusterUnchecked', problem } };
    }
  }

  /** The disk encryption set is the same for all classes and rarely changes: it is not read for each class. */
  private async encryptionFinding(signal: AbortSignal | undefined): Promise<Finding> {
    const { clock } = this.options;
    if (this.encryption !== undefined && clock.now() < this.encryption.until) return this.encryption.finding;
    const finding = await this.checkDiskEncryption(signal);
    const interval = isFailed(finding) ? FORBIDDEN_INTERVAL : ENCRYPTION_INTERVAL;
    this.encryption = { finding, until: clock.now() + interval };
    return finding;
  }

  private async checkSubnet(
    nodeClass: AksNodeClass,
    errors: unknown[],
    signal: AbortSignal | undefined,
  ): Promise<Finding> {
    const { clients, settings } = this.options;
    const own = settings.vnetSubnetId;
    const id = nodeClass.spec?.vnetSubnetID ?? own;
    const subnet = parseSubnetId(id);
    const cluster = parseSubnetId(own);
    if (subnet === undefined || cluster === undefined) return { kind: 'subnetInvalid', subnet: id };
    if (id.toLowerCase() !== own.toLowerCase()) {
      const same = (['subscriptionId', 'resourceGroup', 'virtualNetwork'] as const).every(
        (part) => subnet[part].toLowerCase() === cluster[part].toLowerCase(),
      );
      if (!same) return { kind: 'subnetForeign', subnet: id };
      if (isManagedNetwork(cluster, settings.nodeResourceGroup)) return { kind: 'networkManaged' };
    }
    try {
      const found = await clients.network.subnets.get(
        subnet.resourceGroup,
        subnet.virtualNetwork,
        subnet.subnet,
        signal === undefined ? {} : { abortSignal: signal },
      );
      this.options.addresses.saw(nodeClass.metadata.name, subnet, found);
      return FOUND;
    } catch (error) {
      const failure = describeFailure(error);
      if (failure.statusCode === 404) return { kind: 'subnetMissing', subnet: id };
      errors.push(error);
      return { kind: 'subnetUnknown', problem: failure.message };
    }
  }

  private async checkDiskEncryption(signal: AbortSignal | undefined): Promise<Finding> {
    const { clients, settings } = this.options;
    const [, group, name] =
      /\/resourceGroups\/([^/]+)\/providers\/Microsoft\.Compute\/diskEncryptionSets\/([^/]+)$/i.exec(
        settings.diskEncryptionSetId,
      ) ?? [];
    if (group === undefined || name === undefined) return FOUND;
    try {
      await clients.compute.diskEncryptionSets.get(group, name, signal === undefined ? {} : { abortSignal: signal });
      return FOUND;
    } catch (error) {
      const { statusCode } = describeFailure(error);
      if (statusCode !== 401 && statusCode !== 403) throw error;
      return { kind: 'encryptionSetForbidden', name };
    }
  }

  /** A condition without a new finding keeps its earlier state and generation. */
  private conditions(
    nodeClass: AksNodeClass,
    findings: ReadonlyMap<string, Finding>,
    images: readonly NodeImage[] = [],
  ): Condition[] {
    const now = this.options.clock.now();
    const conditions = new ConditionSet(AKS_NODE_CLASS_CONDITIONS, nodeClass, now);
    for (const [type, finding] of findings) {
      if (isFailed(finding)) {
        const { reason, message } = conditionText(finding);
        conditions.setFalse(type, now, reason, message);
      } else if (type === AksNodeClassConditions.imagesReady) {
        conditions.setTrue(type, now, type, imagesMessage(nodeClass, images, now));
      } else conditions.setTrue(type, now);
    }
    return conditions.conditions;
  }
}

const isFailed = (finding: Finding | undefined): finding is ConditionCause =>
  finding !== undefined && finding.kind !== 'found';

/** Versions only increase: when a control plane is rolled back, its nodes are not. */
function newerVersion(stored: string | undefined, served: string | undefined): string | undefined {
  if (stored === undefined || stored === '' || served === undefined) return served ?? (stored || undefined);
  const parse = (version: string): readonly number[] => (version.match(/\d+/g) ?? []).slice(0, 3).map(Number);
  const [left, right] = [parse(stored), parse(served)];
  for (let index = 0; index < 3; index += 1) {
    const difference = (right[index] ?? 0) - (left[index] ?? 0);
    if (difference !== 0) return difference > 0 ? served : stored;
  }
  return stored;
}

/** Since when the class boots its images, and the previous ones: unchanged until they change again. */
function imagesMessage(nodeClass: AksNodeClass, images: readonly NodeImage[], now: number): string {
  const before = nodeClass.status?.images ?? [];
  const ids = (list: readonly NodeImage[]): string => list.map(({ id }) => id).join();
  if (ids(before) !== ids(images)) return imagesSince(versionsOf(images), versionsOf(before), now);
  const said = findCondition(nodeClass, AksNodeClassConditions.imagesReady);
  return said?.status === 'True' ? (said.message ?? '') : '';
}
