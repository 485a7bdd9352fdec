/** The user of a request. */
export interface User {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

export const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';
const ACCOUNT_PREFIX = 'system:serviceaccount:';
const ACCOUNTS = 'system:serviceaccounts';
/** Members of this group may do everything, independent of roles. */
export const MASTERS = 'system:masters';

export const ANONYMOUS: User = { name: 'system:anonymous', groups: [UNAUTHENTICATED] };

export interface AccountName {
  readonly namespace: string;
  readonly name: string;
}

export function accountUserName({ namespace, name }: AccountName): string {
  return `${ACCOUNT_PREFIX}${namespace}:${name}`;
}

export function accountGroups(namespace: string): string[] {
  return [ACCOUNTS, `${ACCOUNTS}:${namespace}`];
}

/** Returns the service account of a user name; undefined for other users. */
export function accountOf(userName: string): AccountName | undefined {
  if (!userName.startsWith(ACCOUNT_PREFIX)) return undefined;
  const [namespace, name, ...rest] = userName.slice(ACCOUNT_PREFIX.length).split(':');
  if (namespace === undefined || namespace === '' || name === undefined || name === '' || rest.length > 0) {
    return undefined;
  }
  return { namespace, name };
}

/** Adds the group of authenticated or, for the anonymous user, unauthenticated users. */
export function withAuthenticated(name: string, groups: readonly string[]): string[] {
  if (name === ANONYMOUS.name) return groups.includes(UNAUTHENTICATED) ? [...groups] : [...groups, UNAUTHENTICATED];
  return groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED) ? [...groups] : [...groups, AUTHENTICATED];
}
