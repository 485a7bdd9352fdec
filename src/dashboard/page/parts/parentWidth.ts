import { useEffect, useState } from 'preact/hooks';
import type { RefObject } from 'preact';

/** The current width of the element's parent. */
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
