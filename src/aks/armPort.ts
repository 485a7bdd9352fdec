/** Reads, writes and deletes Azure resources by id; each call waits until the operation is complete. */
import { RestError } from '@azure/core-rest-pipeline';
import type { ArmRest } from '../azure/armRest.ts';
import { finishOperation } from '../azure/operations.ts';
import type { Clock } from '../clock/clock.ts';

export const ApiVersions = {
  cluster: '2025-05-01',
  features: '2021-07-01',
  identity: '2023-01-31',
  authorization: '2022-04-01',
  network: '2024-05-01',
} as const;

export interface ArmPort {
  /** Undefined when it does not exist. */
  get<T>(id: string, apiVersion: string): Promise<T | undefined>;
  list<T>(path: string, apiVersion: string): Promise<readonly T[]>;
  put(id: string, apiVersion: string, body: object): Promise<void>;
  post<T>(path: string, apiVersion: string): Promise<T>;
  /** Also succeeds when it does not exist. */
  remove(id: string, apiVersion: string): Promise<void>;
}

export function armPort(rest: ArmRest, clock: Clock): ArmPort {
  return {
    get: (path, apiVersion) => absentAsUndefined(rest.send({ method: 'GET', path, apiVersion })),
    list: (path, apiVersion) => rest.list({ method: 'GET', path, apiVersion }),
    post: (path, apiVersion) => rest.send({ method: 'POST', path, apiVersion, body: {} }),
    put: async (path, apiVersion, body) => {
      await finishOperation(clock, await rest.begin({ method: 'PUT', path, apiVersion, body }), path);
    },
    remove: async (path, apiVersion) => {
      const begun = await absentAsUndefined(rest.begin({ method: 'DELETE', path, apiVersion }));
      if (begun !== undefined) await finishOperation(clock, begun, path);
    },
  };
}

async function absentAsUndefined<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RestError && error.statusCode === 404) return undefined;
    throw error;
  }
}
