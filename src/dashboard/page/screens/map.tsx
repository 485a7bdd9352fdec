import { hierarchy, treemap, treemapSquarify, type HierarchyRectangularNode } from 'd3-hierarchy';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { MapScreen, NodeRow } from '../../screens.ts';
import { grouped, percent, perHour, shortType } from '../format.ts';
import { Empty, Panel } from '../parts/basics.tsx';
import { go, nodePath } from '../router.tsx';
import { useLive, useScreen } from '../store.ts';
import { useParentWidth } from '../parts/parentWidth.ts';

type Measure = 'cpu' | 'memory' | '$';
const MEASURES: readonly Measure[] = ['cpu', 'memory', '$'];

interface Box {
  readonly name: string;
  readonly value?: number;
  readonly children?: readonly Box[];
  readonly node?: NodeRow;
  /** True for a pod. */
  readonly isPod?: boolean;
}

type Placed = HierarchyRectangularNode<Box>;

const HEIGHT = 620;
/** Up to this many nodes, their pods are drawn. */
const WITH_PODS = 150;

export function TreeMap() {
  const { nodes } = useLive();
  const [measure, setMeasure] = useState<Measure>('cpu');
  const [pool, setPool] = useState('');
  const pools = useMemo(() => [...new Set(nodes.map(({ nodePool }) => nodePool))].filter(Boolean).sort(), [nodes]);
  const shown = useMemo(() => nodes.filter(({ nodePool }) => pool === '' || nodePool === pool), [nodes, pool]);
  const isClose = shown.length <= WITH_PODS;
  const { data } = useScreen<MapScreen>(isClose ? `map?pool=${encodeURIComponent(pool)}` : undefined);
  const tree = useMemo(() => treeOf(shown, measure, isClose ? data : undefined), [shown, measure, data, isClose]);
  return (
    <Panel
      title="Pool → zone → type → node → pod"
      aside={
        <div class="tabs">
          <label>
            Pool{' '}
            <select value={pool} onChange={(event) => setPool(event.currentTarget.value)}>
              <option value="">all</option>
              {pools.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <span role="group" aria-label="Area by">
            {MEASURES.map((each) => (
              <button key={each} type="button" aria-pressed={each === measure} onClick={() => setMeasure(each)}>
                {each}
              </button>
            ))}
          </span>
        </div>
      }
    >
      {shown.length === 0 ? <Empty>There is no node.</Empty> : <Tiles tree={tree} measure={measure} />}
    </Panel>
  );
}

function treeOf(nodes: readonly NodeRow[], measure: Measure, map: MapScreen | undefined): Box {
  const podsOf = new Map<string, MapScreen['pods'][number][]>();
  for (const pod of map?.pods ?? []) {
    const known = podsOf.get(pod.node);
    if (known === undefined) podsOf.set(pod.node, [pod]);
    else known.push(pod);
  }
  const nodeBox = (node: NodeRow): Box => {
    const whole = measure === 'cpu' ? node.cores : measure === 'memory' ? node.gib : node.price;
    const share = ({ cpu, memory }: MapScreen['pods'][number]): number => {
      if (measure === 'cpu') return cpu;
      if (measure === 'memory') return memory;
      return (node.price * (cpu / (node.cores || 1) + memory / (node.gib || 1))) / 2;
    };
    const pods = (podsOf.get(node.name) ?? []).map((pod) => ({ name: pod.name, value: share(pod), isPod: true, node }));
    const used = pods.reduce((sum, { value }) => sum + value, 0);
    if (pods.length === 0) return { name: node.name, value: Math.max(whole, 0.001), node };
    return { name: node.name, node, children: [...pods, { name: 'free', value: Math.max(0, whole - used), node }] };
  };
  const byZone = (own: readonly NodeRow[]): Box[] =>
    [...groupedBy(own, ({ zone }) => zone)].map(([zone, inZone]) => ({
      name: zone || 'no zone',
      children: [...groupedBy(inZone, ({ instanceType }) => instanceType)].map(([type, alike]) => ({
        name: shortType(type),
        children: alike.map(nodeBox),
      })),
    }));
  return {
    name: 'cluster',
    children: [...groupedBy(nodes, ({ nodePool }) => nodePool)].map(([name, own]) => ({
      name: name || 'agent pools',
      children: byZone(own),
    })),
  };
}

/** Map.groupBy is not supported in every browser yet. */
function groupedBy(nodes: readonly NodeRow[], keyOf: (node: NodeRow) => string): ReadonlyMap<string, NodeRow[]> {
  const groups = new Map<string, NodeRow[]>();
  for (const node of nodes) {
    const known = groups.get(keyOf(node));
    if (known === undefined) groups.set(keyOf(node), [node]);
    else known.push(node);
  }
  return groups;
}

function Tiles({ tree, measure }: { readonly tree: Box; readonly measure: Measure }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useParentWidth(canvas);
  const [over, setOver] = useState<Placed>();
  const placed = useMemo(() => {
    const root = hierarchy(tree, ({ children }) => children as Box[] | undefined)
      .sum(({ value = 0 }) => value)
      .sort((left, right) => (right.value ?? 0) - (left.value ?? 0));
    return (
      treemap<Box>()
        .tile(treemapSquarify)
        .size([Math.max(1, width), HEIGHT])
        .paddingInner(1)
        .paddingOuter(1)
        // After paddingOuter, which sets all four sides.
        .paddingTop(({ depth, x1, x0 }) => (depth >= 1 && depth <= 2 && x1 - x0 > 50 ? 18 : 1))
        .round(true)(root)
    );
  }, [tree, width]);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (element && context && width > 0) draw(element, context, placed, width);
  });
  const boxAt = ({ offsetX, offsetY }: MouseEvent): Placed | undefined =>
    placed.leaves().find(({ x0, x1, y0, y1 }) => x0 <= offsetX && offsetX < x1 && y0 <= offsetY && offsetY < y1);
  const node = over?.data.node;
  return (
    <div class="fleet">
      <canvas
        ref={canvas}
        style={{ width: `${width}px`, height: `${HEIGHT}px` }}
        role="img"
        aria-label={`All nodes as rectangles, their area by ${measure}; the list of nodes says the same`}
        onMouseMove={(event) => setOver(boxAt(event))}
        onMouseLeave={() => setOver(undefined)}
        onClick={(event) => {
          const name = boxAt(event)?.data.node?.name;
          if (name !== undefined) go(nodePath(name));
        }}
      />
      <p class="fleet-label" aria-hidden="true">
        {over === undefined || node === undefined
          ? 'Point at a rectangle to see what it is; click to open its node.'
          : `${over.data.isPod ? `${over.data.name} on ` : ''}${node.name} · ${shortType(node.instanceType)} · ${grouped(node.cores)} cores · cpu ${percent(node.cpu)} · memory ${percent(node.memory)} · ${perHour(node.price)}`}
      </p>
    </div>
  );
}

function draw(element: HTMLCanvasElement, context: CanvasRenderingContext2D, root: Placed, width: number): void {
  const scale = devicePixelRatio;
  element.width = width * scale;
  element.height = HEIGHT * scale;
  context.scale(scale, scale);
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const [raised, accent, spot, text, muted, panel] = [
    '--raised',
    '--accent',
    '--spot',
    '--text',
    '--muted',
    '--panel',
  ].map(colour);
  const fill = (value: string | undefined): void => {
    context.fillStyle = value ?? '';
  };
  root.each((box) => {
    const [w, h] = [box.x1 - box.x0, box.y1 - box.y0];
    if (w < 1 || h < 1) return;
    if (box.depth >= 1 && box.depth <= 3) {
      fill(box.depth === 1 ? raised : panel);
      context.fillRect(box.x0, box.y0, w, h);
      if (box.depth < 3 && w > 50) {
        fill(box.depth === 1 ? text : muted);
        context.font = `${box.depth === 1 ? 600 : 400} 11px system-ui, sans-serif`;
        context.fillText(fitted(context, box.data.name, w - 8), box.x0 + 4, box.y0 + 13);
      }
      return;
    }
    const { node } = box.data;
    if (node === undefined) return;
    fill(node.capacityType === 'spot' ? spot : accent);
    const isFree = box.depth === 5 && !box.data.isPod;
    context.globalAlpha = isFree
      ? 0.1
      : box.data.isPod
        ? 0.75
        : box.children
          ? 0
          : 0.15 + 0.75 * Math.min(1, Math.max(node.cpu, node.memory));
    context.fillRect(box.x0, box.y0, w, h);
    context.globalAlpha = 1;
    if (box.children || w < 60 || h < 18) return;
    fill(box.data.isPod ? panel : muted);
    context.font = '11px system-ui, sans-serif';
    context.fillText(fitted(context, box.data.name.replace(/^.*\//, ''), w - 8), box.x0 + 4, box.y0 + 13);
  });
}

function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let cut = text;
  while (cut.length > 1 && context.measureText(`${cut}…`).width > width) cut = cut.slice(0, -1);
  return `${cut}…`;
}
