import { drift } from './drift.ts';
import { emptiness } from './emptiness.ts';
import type { Method } from './method.ts';
import { multiNode } from './multiNode.ts';
import { singleNode } from './singleNode.ts';
import { staticDrift } from './staticDrift.ts';

/** In the order in which they are tried: what costs nothing before what must be, and that before what saves. */
export const METHODS: readonly Method[] = [emptiness, staticDrift, drift, multiNode, singleNode];
