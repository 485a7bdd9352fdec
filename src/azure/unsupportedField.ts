/**
 * Fields of a class that its provision mode does not support: the class is refused, rather than ignoring the field or
 * creating nodes that never join. Where AKS creates the nodes, AKS itself validates the fields that it gets.
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
