/** Bootstrap tokens that a cluster accepts: unexpired ones of its Secrets, and the token of AKS's own nodes. */
import { NODE_TOKEN } from '../arm/containerservice/clusterNodes.ts';
import { textAt } from '../apiserver/fields.ts';

export function isBootstrapToken(secrets: readonly unknown[], token: string, now: number): boolean {
  if (token === NODE_TOKEN) return true;
  return secrets.some((secret) => {
    const value = (key: string): string => Buffer.from(textAt(secret, 'data', key) ?? '', 'base64').toString('utf8');
    if (textAt(secret, 'type') !== 'bootstrap.kubernetes.io/token') return false;
    if (value('usage-bootstrap-authentication') !== 'true') return false;
    if (`${value('token-id')}.${value('token-secret')}` !== token) return false;
    return value('expiration') === '' || Date.parse(value('expiration')) > now;
  });
}
