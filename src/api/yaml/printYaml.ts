import { dump } from 'js-yaml';

/**
 * A value as YAML. Texts that YAML 1.1 would take for something else, such as `N` or `0644`, are
 * quoted: kubectl and Helm read YAML 1.1. Members that are undefined are left out, as in JSON.
 */
export function printYaml(value: unknown): string {
  return dump(value, { lineWidth: -1, noRefs: true, quoteStyle: 'double' });
}
