/** Which SKUs can be AKS nodes at all, independent of a node class. */
import { gpuSize } from './gpuRegistry.ts';
import type { Sku } from './resourceSku.ts';

/** AKS refuses the first group; the second cannot be distinguished by price from similar sizes. */
const EXCLUDED_NAMES: ReadonlySet<string> = new Set([
  'Standard_A0',
  'Standard_A1',
  'Standard_A1_v2',
  'Standard_B1s',
  'Standard_B1ms',
  'Standard_F1',
  'Standard_F1s',
  'Basic_A0',
  'Basic_A1',
  'Basic_A2',
  'Basic_A3',
  'Basic_A4',
  'Standard_E64i_v3',
  'Standard_E64is_v3',
]);
const MIN_CPUS = 2;
const MIN_MEMORY_GIB = 3.5;

export function isNodeSize(sku: Sku): boolean {
  const confidential = /^(DC|EC)/.test(`${sku.size.family}${sku.size.subfamily}`);
  return (
    !EXCLUDED_NAMES.has(sku.name) &&
    !sku.restricted &&
    sku.cpus >= MIN_CPUS &&
    sku.memoryGiB >= MIN_MEMORY_GIB &&
    (sku.gpus === 0 || gpuSize(sku.name) !== undefined) &&
    sku.size.constrainedCpus === undefined &&
    !confidential
  );
}
