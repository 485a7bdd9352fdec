/** Names of status conditions and of the reasons written with them. */

export const READY = 'Ready';

export const NodeClaimConditions = {
  launched: 'Launched',
  registered: 'Registered',
  initialized: 'Initialized',
  consolidatable: 'Consolidatable',
  drifted: 'Drifted',
  drained: 'Drained',
  volumesDetached: 'VolumesDetached',
  instanceTerminating: 'InstanceTerminating',
  consistentStateFound: 'ConsistentStateFound',
  disruptionReason: 'DisruptionReason',
} as const;

export const NodePoolConditions = {
  validationSucceeded: 'ValidationSucceeded',
  nodeClassReady: 'NodeClassReady',
  nodeRegistrationHealthy: 'NodeRegistrationHealthy',
} as const;

export const NodeOverlayConditions = { validationSucceeded: 'ValidationSucceeded' } as const;

export const AksNodeClassConditions = {
  imagesReady: 'ImagesReady',
  kubernetesVersionReady: 'KubernetesVersionReady',
  subnetsReady: 'SubnetsReady',
  validationSucceeded: 'ValidationSucceeded',
  localDnsReady: 'LocalDNSReady',
} as const;

/** @public */
export const CapacityBufferConditions = {
  readyForProvisioning: 'ReadyForProvisioning',
  provisioning: 'Provisioning',
  limitedByQuotas: 'LimitedByQuotas',
} as const;

export const Reasons = {
  awaitingReconciliation: 'AwaitingReconciliation',
  unhealthyDependents: 'UnhealthyDependents',
  reconcilingDependents: 'ReconcilingDependents',

  launchFailed: 'LaunchFailed',
  multipleNodesFound: 'MultipleNodesFound',
  nodeNotFound: 'NodeNotFound',
  registrationHookPending: 'RegistrationHookPending',
  nodeNotReady: 'NodeNotReady',
  startupTaintsExist: 'StartupTaintsExist',
  knownEphemeralTaintsExist: 'KnownEphemeralTaintsExist',
  resourceNotRegistered: 'ResourceNotRegistered',
  draDriverPoolsNotPublished: 'DRADriverPoolsNotPublished',
  nodePoolDrifted: 'NodePoolDrifted',
  requirementsDrifted: 'RequirementsDrifted',
  instanceTypeNotFound: 'InstanceTypeNotFound',
  expired: 'Expired',
  draining: 'Draining',
  awaitingVolumeDetachment: 'AwaitingVolumeDetachment',
  terminationGracePeriodElapsed: 'TerminationGracePeriodElapsed',
  consistencyCheckFailed: 'ConsistencyCheckFailed',

  nodePoolValidationFailed: 'NodePoolValidationFailed',
  nodeClassNotFound: 'NodeClassNotFound',
  nodeClassTerminating: 'NodeClassTerminating',
  nodeClassReadinessUnknown: 'NodeClassReadinessUnknown',
  registrationFailed: 'RegistrationFailed',
  runtimeValidation: 'RuntimeValidation',
  conflict: 'Conflict',

  kubernetesUpgrade: 'KubernetesUpgrade',
  sigRequiredForFips: 'SIGRequiredForFIPS',
  imagesNotFound: 'ImagesNotFound',
  subnetIdInvalid: 'SubnetIDInvalid',
  subnetNotFound: 'SubnetNotFound',
  subnetUnknownError: 'SubnetUnknownError',
  diskEncryptionSetRbacMissing: 'DiskEncryptionSetRBACMissing',
  /** Ours: a field of the class has no effect in the provision mode of the controller. */
  unsupportedInProvisionMode: 'UnsupportedInProvisionMode',
  /** Ours: the images of the class have no DNS cache. */
  localDnsUnsupported: 'LocalDNSUnsupported',
  /** Ours: the kubelet does not start with what the class sets. */
  kubeletSettingsInvalid: 'KubeletSettingsInvalid',
  unsupportedNetwork: 'UnsupportedNetwork',
  checkingClusterRequirementsFailed: 'CheckingClusterRequirementsFailed',

  resolved: 'Resolved',
  scalableRefNotFound: 'ScalableRefNotFound',
  podTemplateNotFound: 'PodTemplateNotFound',
  resolutionFailed: 'ResolutionFailed',
  fitsExistingCapacity: 'FitsExistingCapacity',
  requiresNewCapacity: 'RequiresNewCapacity',
  notReadyForProvisioning: 'NotReadyForProvisioning',
  bufferEmpty: 'BufferEmpty',
} as const;
