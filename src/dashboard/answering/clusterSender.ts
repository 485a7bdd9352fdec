/** Keeps the thread's copy of the cluster up to date by sending only new objects. */
import type { KubeObject } from '../../api/object.ts';
import type { RehearsalSource } from '../picture.ts';
import type { SentCluster, ToThread } from './protocol.ts';
import { Slices } from './slices.ts';

/** Objects copied per slice: about a millisecond. */
const AT_ONCE = 128;

type Post = (message: ToThread) => void;

export class ClusterSender {
  private readonly post: Post;
  /** Objects are never modified, so the same object need not be sent again. */
  private numbers: ReadonlyMap<KubeObject, number> = new Map();
  private next = 0;

  constructor(post: Post) {
    this.post = post;
  }

  /** Returns the milliseconds that this took of the current thread. */
  async send({ objects, cloud }: RehearsalSource, lists: SentCluster['lists']): Promise<number> {
    const slices = new Slices();
    const numbers = new Map<KubeObject, number>();
    const kinds: (readonly [string, Uint32Array])[] = [];
    for (const [kind, list] of objects.kinds) {
      const own = new Uint32Array(list.length);
      let news: KubeObject[] = [];
      const flush = (): void => {
        if (news.length > 0) this.post({ type: 'objects', first: this.next - news.length, objects: news });
        news = [];
      };
      for (const [at, object] of list.entries()) {
        const known = this.numbers.get(object);
        const number = known ?? this.next++;
        if (known === undefined) news.push(object);
        numbers.set(object, number);
        own[at] = number;
        if (news.length === AT_ONCE) flush();
        if (at % AT_ONCE === 0) await slices.pause();
      }
      flush();
      kinds.push([kind, own]);
    }
    const { name, nodeClasses } = cloud;
    const cluster: SentCluster = {
      time: objects.time,
      lists,
      kinds,
      cloud: { name, nodeClasses, hasQuotas: cloud.quotas !== undefined },
    };
    this.post({ type: 'cluster', cluster });
    this.numbers = numbers;
    return slices.end();
  }
}
