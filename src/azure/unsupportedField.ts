/** What of a class its provision mode cannot honour: the class is refused rather than the field ignored. */
import type { AksNodeClass } from '../api/kinds/aksNodeClass.ts';
import type { ConditionCause } from '../ledger/conditionText.ts';
import type { AzureSettings } from './azureSettings.ts';

export function unsupportedField(
  { spec }: AksNodeClass,
  { provisionMode, dnsServiceIp }: Pick<AzureSettings, 'provisionMode' | 'dnsServiceIp'>,
): ConditionCause | undefined {
  if (dnsServiceIp.includes(':')) return { kind: 'servicesIpv6', dnsServiceIp };
  if (provisionMode !== 'aksscriptless') return undefined;
  const fields = [
    ...(spec?.localDNS?.mode === 'Required' ? ['localDNS.mode Required'] : []),
    ...(spec?.artifactStreaming?.enabled === true ? ['artifactStreaming.enabled'] : []),
  ];
  return fields.length === 0 ? undefined : { kind: 'fieldsUnsupported', fields, provisionMode };
}
