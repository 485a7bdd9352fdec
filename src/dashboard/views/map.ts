import type { Frame } from '../feed.ts';
import type { MapScreen } from '../screens.ts';
import { nodePod } from './node.ts';

/** More rectangles could not be distinguished. */
const MOST_PODS = 3_000;

/** Pods of a pool, or of all nodes; only those of the first nodes if there are too many. */
export function mapScreen({ time, picture }: Frame, pool: string): MapScreen {
  const views = picture.views.filter(({ nodePool = '' }) => pool === '' || nodePool === pool);
  const all = views.reduce((sum, { pods }) => sum + pods.length, 0);
  const pods: MapScreen['pods'][number][] = [];
  for (const view of views) {
    if (pods.length + view.pods.length > MOST_PODS) break;
    for (const pod of view.pods) pods.push({ ...nodePod(pod), node: view.name });
  }
  return { time, pods, omitted: all - pods.length };
}
