/**
 * The proxy URL from the environment for a server's address, or undefined for a direct connection. Same variables and
 * exceptions as in Go's HTTP client.
 */
import { BlockList, isIP } from 'node:net';

export function proxyFromEnvironment(
  server: string,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const { protocol, hostname, port } = new URL(server);
  const read = (name: string): string => environment[name] || environment[name.toLowerCase()] || '';
  const proxy = read(protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  if (proxy === '') return undefined;
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (isLoopback(host)) return undefined;
  const effectivePort = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  const exceptions = read('NO_PROXY').split(',');
  if (exceptions.some((entry) => covers(entry.trim().toLowerCase(), host, effectivePort))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function covers(entry: string, host: string, port: string): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  if (entry.includes('/')) return inSubnet(entry, host);
  const [, name = '', entryPort] = /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
  if (entryPort !== undefined && entryPort !== port) return false;
  if (isIP(name) !== 0 || isIP(host) !== 0) return name === host;
  const domain = name.replace(/^\*?\./, '');
  // ".example.com" matches only subdomains, "example.com" also matches itself.
  return host.endsWith(`.${domain}`) || (name === domain && host === domain);
}

function inSubnet(entry: string, host: string): boolean {
  const [address = '', bits = ''] = entry.split('/');
  const family = isIP(address);
  const prefix = Number(bits);
  if (
    family === 0 ||
    family !== isIP(host) ||
    !Number.isInteger(prefix) ||
    prefix < 0 ||
    prefix > (family === 4 ? 32 : 128)
  ) {
    return false;
  }
  const subnet = new BlockList();
  const type = family === 4 ? 'ipv4' : 'ipv6';
  subnet.addSubnet(address, prefix, type);
  return subnet.check(host, type);
}
