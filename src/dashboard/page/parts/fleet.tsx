/** Every node as a small square, coloured by utilization. Decorative: the table has the same data. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { NodeRow } from '../../screens.ts';
import { percent, shortType } from '../format.ts';
import { go, nodePath } from '../router.tsx';
import { useParentWidth } from './parentWidth.ts';

const GAP = 2;

/** Size of a square in pixels so that all fit. */
function cellOf(count: number, width: number, height: number): number {
  for (let size = 26; size > 5; size -= 1) {
    const columns = Math.max(1, Math.floor(width / (size + GAP)));
    if (Math.ceil(count / columns) * (size + GAP) <= height) return size;
  }
  return 5;
}

export function Fleet({ nodes }: { readonly nodes: readonly NodeRow[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [over, setOver] = useState<NodeRow>();
  const width = useParentWidth(canvas);
  const size = cellOf(nodes.length, width, 260);
  const columns = Math.max(1, Math.floor((width + GAP) / (size + GAP)));
  const height = Math.ceil(nodes.length / columns) * (size + GAP);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context || width === 0) return;
    const scale = devicePixelRatio;
    element.width = width * scale;
    element.height = Math.max(1, height) * scale;
    context.scale(scale, scale);
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    const colours = {
      accent: colour('--accent'),
      spot: colour('--spot'),
      busy: colour('--busy'),
      bad: colour('--bad'),
    };
    nodes.forEach((node, at) => {
      const [x, y] = [(at % columns) * (size + GAP), Math.floor(at / columns) * (size + GAP)];
      context.fillStyle =
        node.status === 'NotReady'
          ? colours.bad
          : node.status === 'Ready'
            ? node.capacityType === 'spot'
              ? colours.spot
              : colours.accent
            : colours.busy;
      context.globalAlpha = 0.16 + 0.84 * Math.min(1, Math.max(node.cpu, node.memory));
      context.fillRect(x, y, size, size);
    });
  });
  const nodeAt = ({ offsetX, offsetY }: MouseEvent): NodeRow | undefined => {
    const column = Math.floor(offsetX / (size + GAP));
    return column < columns ? nodes[Math.floor(offsetY / (size + GAP)) * columns + column] : undefined;
  };
  return (
    <div class="fleet">
      <canvas
        ref={canvas}
        style={{ width: `${width}px`, height: `${height}px` }}
        role="img"
        aria-label={`${nodes.length} nodes, each a square that is fuller the more its pods have asked for`}
        onMouseMove={(event) => setOver(nodeAt(event))}
        onMouseLeave={() => setOver(undefined)}
        onClick={(event) => {
          const node = nodeAt(event);
          if (node) go(nodePath(node.name));
        }}
      />
      <p class="fleet-label" aria-hidden="true">
        {over === undefined
          ? 'A square is a node; the stronger its colour, the fuller it is.'
          : `${over.name} · ${shortType(over.instanceType)} · ${over.zone} · cpu ${percent(over.cpu)} · memory ${percent(over.memory)} · ${over.status}`}
      </p>
    </div>
  );
}
