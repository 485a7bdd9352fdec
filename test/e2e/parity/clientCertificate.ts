/** The client certificate and key that a kubeconfig file embeds. */
import { readFile } from 'node:fs/promises';
import { parseYaml } from '../../../src/api/yaml/parseYaml.ts';
import type { KeyPair } from '../../controlplane/certificates.ts';

interface Kubeconfig {
  readonly users: readonly {
    readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string };
  }[];
}

export async function readClientCertificate(path: string): Promise<KeyPair> {
  const { users } = parseYaml(await readFile(path, 'utf8')) as Kubeconfig;
  const user = users[0]?.user;
  if (user === undefined) throw new Error(`${path} names no user`);
  const decode = (text: string): string => Buffer.from(text, 'base64').toString();
  return { certificate: decode(user['client-certificate-data']), key: decode(user['client-key-data']) };
}
