/** X.509 for the local world: a CA, server certificates, and client certificates (CN = user, O = groups). */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

/** A certificate and its private key, both PEM. */
export interface CertificatePair {
  readonly certificate: string;
  readonly privateKey: string;
}

export interface CertificateAuthority extends CertificatePair {
  readonly issuer: x509.X509Certificate;
  readonly signingKey: webcrypto.CryptoKey;
}

const KEY_ALGORITHM: webcrypto.EcKeyGenParams = { name: 'ECDSA', namedCurve: 'P-256' };
const SIGNING_ALGORITHM: webcrypto.EcdsaParams = { name: 'ECDSA', hash: 'SHA-256' };
const DAY = 24 * 60 * 60 * 1000;
const LIFETIME = 3650 * DAY;
const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1';
const CLIENT_AUTHENTICATION = '1.3.6.1.5.5.7.3.2';

export async function createCertificateAuthority(options: {
  readonly commonName?: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}): Promise<CertificateAuthority> {
  const keys = await newKeys();
  const issuer = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerialNumber(),
    name: [{ CN: [options.commonName ?? 'nodewright-local'] }],
    ...validity(options.now),
    signingAlgorithm: SIGNING_ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { ...(await pemPair(issuer, keys)), issuer, signingKey: keys.privateKey };
}

/** Issues a server certificate; `hosts` are the DNS names and IP addresses that clients may use. */
export async function issueServerCertificate(
  authority: CertificateAuthority,
  hosts: readonly string[],
  options: { readonly now: number },
): Promise<CertificatePair> {
  const names = hosts.map((host): x509.JsonGeneralName =>
    /^[\d.]+$|:/.test(host) ? { type: 'ip', value: host } : { type: 'dns', value: host },
  );
  return issue(authority, [{ CN: [hosts[0] ?? 'localhost'] }], options.now, [
    new x509.ExtendedKeyUsageExtension([SERVER_AUTHENTICATION]),
    new x509.SubjectAlternativeNameExtension(names),
  ]);
}

export async function issueClientCertificate(
  authority: CertificateAuthority,
  user: string,
  groups: readonly string[],
  options: { readonly now: number },
): Promise<CertificatePair> {
  const subject: x509.JsonName = [...groups.map((group) => ({ O: [group] })), { CN: [user] }];
  return issue(authority, subject, options.now, [new x509.ExtendedKeyUsageExtension([CLIENT_AUTHENTICATION])]);
}

async function issue(
  authority: CertificateAuthority,
  subject: x509.JsonName,
  now: number,
  extensions: readonly x509.Extension[],
): Promise<CertificatePair> {
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: newSerialNumber(),
    subject,
    issuer: authority.issuer.subject,
    ...validity(now),
    publicKey: keys.publicKey,
    signingKey: authority.signingKey,
    signingAlgorithm: SIGNING_ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment, true),
      await x509.AuthorityKeyIdentifierExtension.create(authority.issuer),
      ...extensions,
    ],
  });
  return pemPair(certificate, keys);
}

/** The validity starts a day ago, so that clients with slow clocks accept the certificate. */
function validity(now: number): { readonly notBefore: Date; readonly notAfter: Date } {
  return { notBefore: new Date(now - DAY), notAfter: new Date(now + LIFETIME) };
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify']);
}

/** Returns a random serial number; RFC 5280 requires a positive number of at most 20 octets. */
function newSerialNumber(): string {
  const octets = webcrypto.getRandomValues(new Uint8Array(16));
  octets[0] = ((octets[0] ?? 0) & 0x7f) | 0x40;
  return Buffer.from(octets).toString('hex');
}

async function pemPair(issued: x509.X509Certificate, keys: webcrypto.CryptoKeyPair): Promise<CertificatePair> {
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    certificate: `${issued.toString('pem')}\n`,
    privateKey: `${x509.PemConverter.encode(key, 'PRIVATE KEY')}\n`,
  };
}
