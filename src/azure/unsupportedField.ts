/**
 * What of a class its provision mode cannot honour: the class is refused rather than the field ignored, or nodes made
 * that never join. Where AKS makes the nodes, it judges itself what it is asked for.
 */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import type { ConditionCause } from '../ledger/conditionText.ts';
import type { AzureSettings } from './azureSettings.ts';
import { kubeletObjection } from './bootstrap/kubeletFlags.ts';
import { isWithoutDnsCache } from './images.ts';

export function unsupportedField(
  nodeClass: AksNodeClass,
  { provisionMode, dnsServiceIp }: Pick<AzureSettings, 'provisionMode' | 'dnsServiceIp'>,
): ConditionCause | undefined {
  if (dnsServiceIp.includes(':')) return { kind: 'servicesIpv6', dnsServiceIp };
  const { spec } = nodeClass;
  if (provisionMode === 'bootstrappingclient' && spec?.localDNS?.mode === 'Required' && isWithoutDnsCache(nodeClass)) {
    return { kind: 'dnsCacheMissing' };
  }
  if (provisionMode !== 'aksscriptless') return undefined;
  const fields = [
    ...(spec?.localDNS?.mode === 'Required' ? ['localDNS.mode Required'] : []),
    ...(spec?.artifactStreaming?.enabled === true ? ['artifactStreaming.enabled'] : []),
  ];
  return fields.length === 0 ? kubeletObjection(spec) : { kind: 'fieldsUnsupported', fields, provisionMode };
}
