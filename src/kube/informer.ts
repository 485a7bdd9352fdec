/**
 * The informers of a process: one per kind and scope, shared by all its users, so that each object is held, and each
 * change received, once.
 */
import { InvariantError } from '../errors/invariantError.ts';
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
  /** Instead of the trim that suits the kind (see trim.ts). */
  readonly transform?: Transform<T>;
  /** Ways to look objects up; more can be added by asking again. */
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
}

export interface InformersOptions extends ReflectorTuning {
  readonly kube: Kube;
  readonly clock: Clock;
  readonly random: Random;
  /** Told about every failure that is being retried, and about listeners that throw. */
  readonly onError?: (error: unknown, kind: ResourceKind<KubeObject>) => void;
}

interface Entry {
  readonly key: string;
  readonly transform: unknown;
  readonly informer: Informer<KubeObject>;
}

export class Informers {
  private readonly options: InformersOptions;
  private readonly entries: Entry[] = [];
  private readonly running = new Set<Promise<void>>();
  private signal: AbortSignal | undefined;

  constructor(options: InformersOptions) {
    this.options = options;
  }

  /** The informer for a kind and scope. One that is asked for while others run starts at once. */
  of<T extends KubeObject>(kind: ResourceKind<T>, options: InformerOptions<T> = {}): Informer<T> {
    const { namespace, labelSelector, fieldSelector, transform, indexes = {} } = options;
    const key = JSON.stringify([kind.group, kind.version, kind.plural, namespace, labelSelector, fieldSelector]);
    const entry = this.entries.find((known) => known.key === key && known.transform === transform);
    const informer = (entry?.informer as unknown as StoreInformer<T> | undefined) ?? this.make(kind, options);
    for (const [name, valuesOf] of Object.entries(indexes)) informer.store.addIndex(name, valuesOf);
    if (entry === undefined) {
      this.entries.push({ key, transform, informer: informer as unknown as Informer<KubeObject> });
      if (this.signal !== undefined) this.start(informer as unknown as Informer<KubeObject>, this.signal);
    }
    return informer;
  }

  /** Runs all informers until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.signal !== undefined) throw new InvariantError('the informers are already running');
    this.signal = signal;
    // Each informer listens to it, and there are more of them than Node.js expects.
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

  /** Resolves when every informer asked for so far has synced. */
  async synced(signal?: AbortSignal): Promise<void> {
    if (signal) setMaxListeners(0, signal);
    await Promise.all(this.entries.map(({ informer }) => informer.synced(signal)));
  }

  private make<T extends KubeObject>(kind: ResourceKind<T>, options: InformerOptions<T>): StoreInformer<T> {
    const { namespace, labelSelector, fieldSelector } = options;
    const { onError = warn, ...rest } = this.options;
    return new StoreInformer<T>({
      ...rest,
      kind,
      scope: {
        ...(namespace === undefined ? {} : { namespace }),
        ...(labelSelector === undefined ? {} : { labelSelector }),
        ...(fieldSelector === undefined ? {} : { fieldSelector }),
      },
      transform: options.transform ?? trimFor(kind),
      onError: (error) => onError(error, kind),
    });
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
