/**
 * A certificate authority for one control plane: PEM certificates and keys that the API server accepts as itself
 * (server) or as its users (client).
 */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { Extension, X509Certificate } from '@peculiar/x509';

export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

interface CertificateAuthority {
  readonly pair: KeyPair;
  server(addresses: readonly string[], names: readonly string[]): Promise<KeyPair>;
  client(user: string, groups: readonly string[]): Promise<KeyPair>;
}

const keyAlgorithm = { name: 'ECDSA', namedCurve: 'P-256' };
const signingAlgorithm = { name: 'ECDSA', hash: 'SHA-256' };
const hour = 3_600_000;

export async function createCertificateAuthority(): Promise<CertificateAuthority> {
  cryptoProvider.set(webcrypto);
  const keys = await generateKeys();
  const authority = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: ['nodewright-test-ca'] }],
    keys,
    signingAlgorithm,
    ...validity(),
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign | KeyUsageFlags.digitalSignature, true),
    ],
  });
  const issue = async (subject: Record<string, string[]>[], extensions: Extension[]): Promise<KeyPair> => {
    const leafKeys = await generateKeys();
    const certificate = await X509CertificateGenerator.create({
      subject,
      issuer: authority.subject,
      publicKey: leafKeys.publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm,
      ...validity(),
      extensions: [new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true), ...extensions],
    });
    return toPair(certificate, leafKeys.privateKey);
  };
  return {
    pair: await toPair(authority, keys.privateKey),
    server: (addresses, names) =>
      issue(
        [{ CN: ['kube-apiserver'] }],
        [
          new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
          new SubjectAlternativeNameExtension([
            ...addresses.map((value) => ({ type: 'ip' as const, value })),
            ...names.map((value) => ({ type: 'dns' as const, value })),
          ]),
        ],
      ),
    // The API server reads the user from CN and the groups from the O attributes.
    client: (user, groups) =>
      issue(
        [...groups.map((group) => ({ O: [group] })), { CN: [user] }],
        [new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth])],
      ),
  };
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify']);
}

/** An hour back, because the clocks of client and server may disagree in tests that skew them. */
function validity(): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(Date.now() - hour), notAfter: new Date(Date.now() + 24 * 365 * hour) };
}

async function toPair(certificate: X509Certificate, privateKey: webcrypto.CryptoKey): Promise<KeyPair> {
  const key = await webcrypto.subtle.exportKey('pkcs8', privateKey);
  return {
    certificate: certificate.toString('pem'),
    key: PemConverter.encode(key, PemConverter.PrivateKeyTag),
  };
}
