/** Validates names and labels. The functions return upstream's messages; none for valid text. */
const MAX_SUBDOMAIN = 253;
const MAX_LABEL = 63;
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const VALUE = `(${QUALIFIED})?`;
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const CONFIG_KEY = '[-._a-zA-Z0-9]+';

const SUBDOMAIN_MESSAGE = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;
const LABEL_MESSAGE = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`;
const LABEL_1035_MESSAGE = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${LABEL_1035}')`;
const QUALIFIED_NAME_MESSAGE = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}')`;
const VALUE_MESSAGE = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${VALUE}')`;
const CONFIG_KEY_MESSAGE = `a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '${CONFIG_KEY}')`;

const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`);
const tooMany = (limit: number): string => `must be no more than ${limit} bytes`;

/** The result for valid names, allocated once. */
const FINE: readonly string[] = [];

interface Rule {
  readonly pattern: RegExp;
  readonly message: string;
  readonly limit: number;
}

function check(text: string, { pattern, message, limit }: Rule): readonly string[] {
  if (text.length <= limit && pattern.test(text)) return FINE;
  return [...(text.length > limit ? [tooMany(limit)] : []), ...(pattern.test(text) ? [] : [message])];
}

const configKey = whole(CONFIG_KEY);
const qualifiedName = whole(QUALIFIED);
const subdomain: Rule = { pattern: whole(SUBDOMAIN), message: SUBDOMAIN_MESSAGE, limit: MAX_SUBDOMAIN };
const label: Rule = { pattern: whole(LABEL), message: LABEL_MESSAGE, limit: MAX_LABEL };
const label1035: Rule = { pattern: whole(LABEL_1035), message: LABEL_1035_MESSAGE, limit: MAX_LABEL };
const labelValue: Rule = { pattern: whole(VALUE), message: VALUE_MESSAGE, limit: MAX_LABEL };

export const subdomainProblems = (text: string): readonly string[] => check(text, subdomain);
export const labelProblems = (text: string): readonly string[] => check(text, label);
export const label1035Problems = (text: string): readonly string[] => check(text, label1035);
export const labelValueProblems = (text: string): readonly string[] => check(text, labelValue);

export function configKeyProblems(text: string): string[] {
  const problems = text.length > MAX_SUBDOMAIN ? [tooMany(MAX_SUBDOMAIN)] : [];
  if (!configKey.test(text)) problems.push(CONFIG_KEY_MESSAGE);
  if (text === '.') problems.push("must not be '.'");
  else if (text === '..') problems.push("must not be '..'");
  else if (text.startsWith('..')) problems.push("must not start with '..'");
  return problems;
}

/** Validates keys of labels, annotations, taints and resources: `example.com/name` or `name`. */
export function qualifiedNameProblems(text: string): readonly string[] {
  if (text.length <= MAX_LABEL && qualifiedName.test(text)) return FINE;
  const parts = text.split('/');
  const problems: string[] = [];
  let name = text;
  if (parts.length === 2) {
    const [prefix = ''] = parts;
    name = parts[1] ?? '';
    if (prefix === '') problems.push('prefix part must be non-empty');
    else problems.push(...subdomainProblems(prefix).map((one) => `prefix part ${one}`));
  } else if (parts.length > 2) {
    return [
      `a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  if (name === '') problems.push('name part must be non-empty');
  else if (name.length > MAX_LABEL) problems.push(`name part ${tooMany(MAX_LABEL)}`);
  if (!qualifiedName.test(name)) problems.push(QUALIFIED_NAME_MESSAGE);
  return problems;
}
