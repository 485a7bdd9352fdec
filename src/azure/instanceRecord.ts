/** An Azure instance: a VM of ours or the VM of an AKS machine. */
export interface InstanceRecord {
  /** Resource id of the VM. */
  readonly id: string;
  /** Name of the VM, or of the AKS machine; in lower case. */
  readonly name: string;
  readonly size: string;
  /** `1`, `2`, `3`; undefined without a zone. */
  readonly zone: string | undefined;
  readonly spot: boolean;
  /** Uses a capacity reservation. */
  readonly reserved?: boolean;
  readonly tags: Readonly<Record<string, string>>;
  readonly imageId: string | undefined;
  /** Creating, Succeeded, Failed, Deleting, … */
  readonly state: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number | undefined;
  /** The claim for which it was created, if known. */
  readonly claimName: string | undefined;
  /** Absent for a VM of ours. */
  readonly aksMachine?: AksMachineFacts;
}

interface AksMachineFacts {
  readonly id: string;
  /** AKS's required action: `Synced`, `Recreate`, … */
  readonly driftAction: string | undefined;
}
