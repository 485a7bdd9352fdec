/** Records a cluster line by line: a snapshot, then every change until stopped. */
import type { Clock } from '../../clock/clock.ts';
import type { Random } from '../../clock/random.ts';
import type { Kube } from '../../kube/kube.ts';
import { kindKey } from '../../rehearsal/clusterObjects.ts';
import { HashedNames } from '../../rehearsal/hashedNames.ts';
import { recordChanges } from '../../rehearsal/recordChanges.ts';
import { formatChange, formatEnd } from '../../rehearsal/recording.ts';
import { formatSnapshot, SNAPSHOT_KINDS, withoutSecretFields } from '../../rehearsal/snapshotFile.ts';
import { NODE_CLASSES, type ClusterSource } from './clusterSource.ts';

export interface RecordOptions {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  /** Read with the fields that a snapshot keeps. */
  readonly source: ClusterSource;
  readonly hashNames: boolean;
  readonly write: (line: string) => void;
  readonly onError: (error: unknown) => void;
}

/** Until the signal aborts; without a signal only the snapshot. */
export async function recordCluster(recorded: RecordOptions, signal?: AbortSignal): Promise<void> {
  const { kube, clock, random, source, hashNames, write, onError } = recorded;
  const names = hashNames ? new HashedNames() : undefined;
  const start = source.objects;
  write(formatSnapshot(start, names));
  if (signal === undefined) return;
  const kinds = [...SNAPSHOT_KINDS, ...NODE_CLASSES].filter((kind) => start.kinds.has(kindKey(kind)));
  const onChange = (change: Parameters<typeof formatChange>[0]): void => write(formatChange(change, names));
  const options = { kube, clock, random, kinds, start, keep: withoutSecretFields, onChange, onError };
  write(formatEnd(await recordChanges(options, signal)));
}
