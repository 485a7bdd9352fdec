import { useEffect, useState } from 'preact/hooks';
import type { RefObject } from 'preact';

/** The width of what the element stands in, followed as it changes. */
export function useParentWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const parent = element.current?.parentElement;
    if (!parent) return undefined;
    const watcher = new ResizeObserver(() => setWidth(parent.clientWidth));
    watcher.observe(parent);
    return () => watcher.disconnect();
  }, []);
  return width;
}
