/**
 * The informers of a process: one per kind and scope, shared by all users, so that each object is stored, and each
 * change received, only once.
 */
import { InvariantError } from '../errors/invariantError.ts';
import { messageOf } from '../errors/thrown.ts';
import { setMaxListeners } from 'node:events';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import type { Clock } from '../clock/clock.ts';
import type { Random } from '../clock/random.ts';
import { StoreInformer, type Informer } from './storeInformer.ts';
import type { Kube } from './kube.ts';
import type { ReflectorTuning, Scope } from './reflector.ts';
import type { IndexFunction } from './store.ts';
import { trimFor, type Transform } from './trim.ts';

export type { Informer, InformerEvent } from './storeInformer.ts';

export interface InformerOptions<T extends KubeObject> extends Scope {
  /** Replaces the default trim of the kind (see trim.ts). */
  readonly transform?: Transform<T>;
  /** Indexes for lookups; later calls may add more. */
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /**
   * Its users work without it: `synced` does not wait when its first list fails, for example because it is forbidden.
   * It keeps retrying; a failure is reported when it differs from the previous one.
   */
  readonly optional?: true;
}

export interface InformersOptions extends ReflectorTuning {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  /** Called for every failure that is being retried, and for listeners that throw. */
  readonly onError?: (error: unknown, kind: ResourceKind<KubeObject>) => void;
  /** Called when a watch has broken off: the server may have been replaced. */
  readonly onBroken?: () => void;
}

interface Entry {
  readonly key: string;
  readonly transform: unknown;
  readonly informer: Informer<KubeObject>;
  /** For an optional informer: resolves when a list has failed. */
  readonly failed: Promise<void> | undefined;
}

export class Informers {
  private readonly options: InformersOptions;
  private readonly entries: Entry[] = [];
  private readonly running = new Set<Promise<void>>();
  private signal: AbortSignal | undefined;

  constructor(options: InformersOptions) {
    this.options = options;
  }

  /** The informer for a kind and scope. If others are already running, it starts at once. */
  of<T extends KubeObject>(kind: ResourceKind<T>, options: InformerOptions<T> = {}): Informer<T> {
    const { namespace, labelSelector, fieldSelector, transform, indexes = {} } = options;
    const key = JSON.stringify([kind.group, kind.version, kind.plural, namespace, labelSelector, fieldSelector]);
    const known = this.entries.find((entry) => entry.key === key && entry.transform === transform);
    const { informer } = known ?? this.add(key, kind, options);
    const own = informer as unknown as StoreInformer<T>;
    for (const [name, valuesOf] of Object.entries(indexes)) own.store.addIndex(name, valuesOf);
    if (known === undefined && this.signal !== undefined) this.start(informer, this.signal);
    return own;
  }

  /** Runs all informers until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.signal !== undefined) throw new InvariantError('the informers are already running');
    this.signal = signal;
    // Each informer listens to this signal, and there are more than Node.js expects.
    setMaxListeners(0, signal);
    try {
      for (const { informer } of this.entries) this.start(informer, signal);
      if (!signal.aborted) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      }
      await Promise.all(this.running);
    } finally {
      this.signal = undefined;
    }
  }

  /** Resolves when every informer created so far has synced; optional ones need only have tried. */
  async synced(signal?: AbortSignal): Promise<void> {
    if (signal) setMaxListeners(0, signal);
    await Promise.all(
      this.entries.map(({ informer, failed }) => {
        const synced = informer.synced(signal);
        return failed === undefined ? synced : Promise.race([synced, failed]);
      }),
    );
  }

  private add<T extends KubeObject>(key: string, kind: ResourceKind<T>, options: InformerOptions<T>): Entry {
    const { namespace, labelSelector, fieldSelector, transform, optional } = options;
    const { onError = warn, ...rest } = this.options;
    const failure = optional ? firstFailure((error) => onError(error, kind)) : undefined;
    const informer = new StoreInformer<T>({
      ...rest,
      kind,
      scope: {
        ...(namespace === undefined ? {} : { namespace }),
        ...(labelSelector === undefined ? {} : { labelSelector }),
        ...(fieldSelector === undefined ? {} : { fieldSelector }),
      },
      transform: transform ?? trimFor(kind),
      onError: failure?.report ?? ((error) => onError(error, kind)),
    });
    const entry = { key, transform, informer: informer as unknown as Informer<KubeObject>, failed: failure?.happened };
    this.entries.push(entry);
    return entry;
  }

  private start(informer: Informer<KubeObject>, signal: AbortSignal): void {
    const running = informer.run(signal).finally(() => this.running.delete(running));
    this.running.add(running);
  }
}

function warn(error: unknown, kind: ResourceKind<KubeObject>): void {
  process.emitWarning(
    `${kind.plural}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    'Informer',
  );
}

/** Forwards errors except repetitions of the last one; `happened` resolves at the first. */
function firstFailure(onError: (error: unknown) => void): {
  readonly report: (error: unknown) => void;
  readonly happened: Promise<void>;
} {
  let happen = (): void => undefined;
  let last: string | undefined;
  const happened = new Promise<void>((resolve) => (happen = resolve));
  const report = (error: unknown): void => {
    const message = messageOf(error);
    if (message !== last) onError(error);
    last = message;
    happen();
  };
  return { report, happened };
}
