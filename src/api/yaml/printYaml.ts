import { dump } from 'js-yaml';

/**
 * Prints a value as YAML. Strings that YAML 1.1 would read as another type, such as `N` or `0644`, are quoted, because
 * kubectl and Helm read YAML 1.1. Undefined members are left out, as in JSON.
 */
export function printYaml(value: unknown): string {
  return dump(value, { lineWidth: -1, noRefs: true, quoteStyle: 'double' });
}
