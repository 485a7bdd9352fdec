/** The user behind a request: a name, and the groups that roles are given to. */
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
/** Members of this group may do everything, whatever the roles say. */
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

/** The service account that a user name stands for; undefined for other users. */
export function accountOf(userName: string): AccountName | undefined {
  if (!userName.startsWith(ACCOUNT_PREFIX)) return undefined;
  const [namespace, name, ...rest] = userName.slice(ACCOUNT_PREFIX.length).split(':');
  if (namespace === undefined || namespace === '' || name === undefined || name === '' || rest.length > 0) {
    return undefined;
  }
  return { namespace, name };
}

/** Every user but the anonymous one is in the group of authenticated users, given or not. */
export function withAuthenticated(name: string, groups: readonly string[]): string[] {
  if (name === ANONYMOUS.name) return groups.includes(UNAUTHENTICATED) ? [...groups] : [...groups, UNAUTHENTICATED];
  return groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED) ? [...groups] : [...groups, AUTHENTICATED];
}
