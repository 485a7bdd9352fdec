/** Kubernetes' naming rules for labels and taints. Each function returns the problems of a text. */

const NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const DOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const CHARACTERS = "must consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit";

/** A name with an optional domain before a slash, such as `example.com/team`. */
export function qualifiedNameErrors(text: string): string[] {
  const parts = text.split('/');
  if (parts.length > 2) return ['must be a name, or a domain and a name with one slash between them'];
  const name = parts.at(-1) ?? '';
  const domain = parts.length === 2 ? (parts[0] ?? '') : undefined;
  return [...(domain === undefined ? [] : domainErrors(domain)), ...nameErrors(name)];
}

function nameErrors(name: string): string[] {
  if (name === '') return ['the name part must not be empty', `the name part ${CHARACTERS}`];
  return [
    ...(name.length > 63 ? ['the name part can have at most 63 characters'] : []),
    ...(NAME.test(name) ? [] : [`the name part ${CHARACTERS}`]),
  ];
}

function domainErrors(domain: string): string[] {
  if (domain === '') return ['the domain part must not be empty'];
  return [
    ...(domain.length > 253 ? ['the domain part can have at most 253 characters'] : []),
    ...(DOMAIN.test(domain) ? [] : ['the domain part must be a lower-case DNS name']),
  ];
}

export function labelValueErrors(text: string): string[] {
  return [
    ...(text.length > 63 ? ['a label value can have at most 63 characters'] : []),
    ...(text === '' || NAME.test(text) ? [] : [`a label value ${CHARACTERS}`]),
  ];
}
