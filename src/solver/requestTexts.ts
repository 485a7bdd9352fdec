/**
 * Requests of planned nodes as quantity text: pods, and the daemons common to all alternatives. The sums already exist
 * as numbers; quantities are added again only where those were rounded.
 */
import { Quantity, type QuantityFormat } from '../units/quantity.ts';
import { addResources, formatResources, multiplyResources, quantityOf, type Resources } from '../units/resources.ts';
import { CPU, type ResourceTable } from './model/resourceTable.ts';
import type { PodClass } from './model/podClass.ts';
import type { OpenNode } from './placement/openNode.ts';
import { floatAt, itemAt } from './rows.ts';

/** A resource of pods: its column in the rows, and how Kubernetes would print sums that start with it. */
interface Column {
  readonly name: string;
  readonly column: number;
  readonly format: QuantityFormat;
  /** By amount: its text, daemons included. */
  readonly texts: Map<number, string>;
}

/** The resources of a pod, in order. */
type Layout = readonly Column[];

const UNKNOWN: Layout = [];

export class RequestTexts {
  private readonly table: ResourceTable;
  private readonly byDaemons = new Map<Resources, TextsWithDaemons>();

  constructor(table: ResourceTable) {
    this.table = table;
  }

  of(node: OpenNode, daemons: Resources): Readonly<Record<string, string>> {
    let texts = this.byDaemons.get(daemons);
    if (texts === undefined) {
      texts = new TextsWithDaemons(this.table, daemons);
      this.byDaemons.set(daemons, texts);
    }
    return texts.of(node);
  }
}

class TextsWithDaemons {
  private readonly table: ResourceTable;
  private readonly daemons: Resources;
  /** By class; `UNKNOWN` where numbers are not exact. */
  private readonly layouts: Layout[] = [];
  /** Equal layouts share one object. */
  private readonly byName = new Map<string, Layout>();

  constructor(table: ResourceTable, daemons: Resources) {
    this.table = table;
    this.daemons = daemons;
  }

  of(node: OpenNode): Readonly<Record<string, string>> {
    const { daemons } = this;
    const layout = this.commonLayout(node);
    if (layout === undefined) {
      const own = node.entries.map(({ podClass, pods }) => multiplyResources(podClass.shape.requests, pods.length));
      return formatResources(addResources(...own, daemons));
    }
    const texts: Record<string, string> = {};
    for (const column of layout) {
      const amount = floatAt(node.used, column.column);
      let text = column.texts.get(amount);
      if (text === undefined) {
        text = amountIn(column.column, amount, column.format).add(quantityOf(daemons, column.name)).toString();
        column.texts.set(amount, text);
      }
      texts[column.name] = text;
    }
    for (const name in daemons) {
      if (!Object.hasOwn(texts, name)) texts[name] = quantityOf(daemons, name).toString();
    }
    return texts;
  }

  /** The layout of all pods of the node, if they have the same resources in the same order. */
  private commonLayout({ entries }: OpenNode): Layout | undefined {
    let common: Layout | undefined;
    for (let at = 0; at < entries.length; at++) {
      const { podClass } = itemAt(entries, at);
      const layout = (this.layouts[podClass.id] ??= this.layoutOf(podClass));
      if (layout === UNKNOWN || (common !== undefined && common !== layout)) return undefined;
      common = layout;
    }
    return common;
  }

  private layoutOf({ shape: { requests }, row }: PodClass): Layout {
    const { names } = this.table;
    let key = '';
    for (const name in requests) {
      const column = names.indexOf(name);
      const amount = quantityOf(requests, name);
      // A sum takes its format from the first nonzero amount.
      if (column < 0 || amount.sign() <= 0) return UNKNOWN;
      const { format } = amount;
      if (amountIn(column, floatAt(row, column), format).compare(amount) !== 0) return UNKNOWN;
      key += `${name}/${format}\n`;
    }
    let layout = this.byName.get(key);
    if (layout === undefined) {
      layout = Object.entries(requests).map(([name, { format }]) => ({
        name,
        column: names.indexOf(name),
        format,
        texts: new Map<number, string>(),
      }));
      this.byName.set(key, layout);
    }
    return layout;
  }
}

function amountIn(column: number, amount: number, format: QuantityFormat): Quantity {
  return column === CPU ? Quantity.fromMilli(amount, format) : Quantity.fromValue(amount, format);
}
