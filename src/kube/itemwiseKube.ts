/**
 * Optional extension of `Kube` that decodes large lists item by item. An informer uses it if available, otherwise
 * `list`.
 */
import type { KubeObject, ResourceKind } from '../api/object.ts';
import type { ListMetadata } from './decodeList.ts';
import type { Kube, ListOptions } from './kube.ts';

export interface ItemwiseKube extends Kube {
  /** Like `list`, but returns items one by one, with empty `managedFields`, after the whole answer has arrived. */
  listEach<T extends KubeObject>(
    kind: ResourceKind<T>,
    options: ListOptions,
    visit: (item: T) => void,
  ): Promise<ListMetadata>;
}

export const isItemwise = (kube: Kube): kube is ItemwiseKube => 'listEach' in kube;
