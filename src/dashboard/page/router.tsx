/** Paths of screens, using the browser's history. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const listeners = new Set<() => void>();

export function go(path: string): void {
  history.pushState(undefined, '', path);
  for (const listener of listeners) listener();
  window.scrollTo(0, 0);
  document.querySelector<HTMLElement>('main')?.focus();
}

export function usePath(): string {
  const [path, setPath] = useState(location.pathname);
  useEffect(() => {
    const listener = (): void => setPath(location.pathname);
    listeners.add(listener);
    window.addEventListener('popstate', listener);
    return () => {
      listeners.delete(listener);
      window.removeEventListener('popstate', listener);
    };
  }, []);
  return path;
}

interface LinkProps {
  readonly to: string;
  readonly class?: string;
  readonly current?: boolean;
  readonly title?: string;
  readonly children: ComponentChildren;
}

export function Link({ to, current, children, ...rest }: LinkProps) {
  return (
    <a
      href={to}
      aria-current={current ? 'page' : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        go(to);
      }}
      {...rest}
    >
      {children}
    </a>
  );
}

export const nodePath = (name: string): string => `/nodes/${encodeURIComponent(name)}`;
export const NodeLink = ({ name }: { readonly name: string }) => <Link to={nodePath(name)}>{name}</Link>;
