/** Certificates for tests. In: names. Out: PEM texts signed by an authority that lives as long as the test. */
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { webcrypto } from 'node:crypto';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const VALIDITY = { notBefore: new Date('2020-01-01'), notAfter: new Date('2050-01-01') };

export interface KeyedCertificate {
  readonly cert: string;
  readonly key: string;
}

export class CertificateAuthority {
  readonly cert: string;
  private readonly certificate: x509.X509Certificate;
  private readonly keys: webcrypto.CryptoKeyPair;

  private constructor(certificate: x509.X509Certificate, keys: webcrypto.CryptoKeyPair) {
    this.certificate = certificate;
    this.keys = keys;
    this.cert = certificate.toString('pem');
  }

  static async create(): Promise<CertificateAuthority> {
    x509.cryptoProvider.set(webcrypto);
    const keys = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      ...VALIDITY,
      name: 'CN=test authority',
      keys,
      signingAlgorithm: ALGORITHM,
      extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
    });
    return new CertificateAuthority(certificate, keys);
  }

  async issue(
    commonName: string,
    alternatives: readonly { type: 'dns' | 'ip'; value: string }[] = [],
  ): Promise<KeyedCertificate> {
    const keys = await generateKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      ...VALIDITY,
      subject: `CN=${commonName}`,
      issuer: this.certificate.subject,
      publicKey: keys.publicKey,
      signingKey: this.keys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: alternatives.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension([...alternatives])],
    });
    const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
    const key = `-----BEGIN PRIVATE KEY-----\n${pkcs8.replace(/.{64}/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
    return { cert: certificate.toString('pem'), key };
  }
}

const generateKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
