/** All request scripts, in the order in which they are played. */
import type { Script } from '../script.ts';
import { applyingScripts } from './applying.ts';
import { creatingScripts } from './creating.ts';
import { customResourceScripts } from './customResources.ts';
import { deletingScripts } from './deleting.ts';
import { discoveryScripts } from './discovery.ts';
import { patchingScripts } from './patching.ts';
import { podTableScripts } from './podTables.ts';
import { protocolScripts } from './protocol.ts';
import { readingScripts } from './reading.ts';
import { subresourceScripts } from './subresources.ts';
import { tableScripts } from './tables.ts';
import { validationScripts } from './validation.ts';

export const scripts: readonly Script[] = [
  ...discoveryScripts,
  ...readingScripts,
  ...creatingScripts,
  ...patchingScripts,
  ...applyingScripts,
  ...deletingScripts,
  ...subresourceScripts,
  ...podTableScripts,
  ...tableScripts,
  ...customResourceScripts,
  ...validationScripts,
  ...protocolScripts,
];
