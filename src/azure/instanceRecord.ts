/** An instance as Azure knows it, whether it is a VM of ours or behind an AKS machine. */
export interface InstanceRecord {
  /** Resource id of the VM. */
  readonly id: string;
  /** Of the VM, or of the AKS machine; in lower case. */
  readonly name: string;
  readonly size: string;
  /** `1`, `2`, `3`; undefined for an instance in no zone. */
  readonly zone: string | undefined;
  readonly spot: boolean;
  /** It draws on a capacity reservation. */
  readonly reserved?: boolean;
  readonly tags: Readonly<Record<string, string>>;
  readonly imageId: string | undefined;
  /** Creating, Succeeded, Failed, Deleting, … */
  readonly state: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number | undefined;
  /** The claim that it was made for, where that is known. */
  readonly claimName: string | undefined;
  /** Absent for a VM of ours. */
  readonly aksMachine?: AksMachineFacts;
}

interface AksMachineFacts {
  readonly id: string;
  /** What should happen to it according to AKS: `Synced`, `Recreate`, … */
  readonly driftAction: string | undefined;
}
