/** Asks the providers about all resources of a template before any of them is created. */
import { ArmError } from '../armError.ts';
import type { JsonObject } from '../jsonPath.ts';
import { refusal } from '../refusal.ts';
import { requestOf, type DeploymentRunOptions } from './deploymentRun.ts';
import type { PlannedResource } from './templateResources.ts';
import { PendingReference } from './templateScope.ts';

export interface PreflightOptions extends Pick<DeploymentRunOptions, 'router' | 'principal' | 'resources'> {
  readonly deployment: string;
  readonly trackingId: () => string;
}

/** Throws ARM's error for the whole template, with the errors of the providers as details. */
export function preflight(options: PreflightOptions): void {
  const refused = options.resources.flatMap((resource) => {
    const problem = problemOf(options, resource);
    return problem === undefined ? [] : [{ resource, problem }];
  });
  if (refused.length === 0) return;
  const asked = new Set(refused.map(({ resource: { type, apiVersion } }) => `'${type} (${apiVersion})'`));
  const types = [...asked].join(',');
  const details = refused.map(({ problem: { code, message } }) => ({ code, message }));
  const { deployment: name, trackingId } = options;
  throw refusal('InvalidTemplateDeployment', { name, types, id: trackingId() }, { details });
}

function problemOf(options: PreflightOptions, resource: PlannedResource): ArmError | undefined {
  const body = bodyOf(resource);
  if (body === undefined) return undefined;
  const [{ preflight: check }, request] = requestOf(options, resource, body);
  try {
    check?.(request);
    return undefined;
  } catch (error) {
    if (error instanceof ArmError) return error;
    throw error;
  }
}

/** Returns undefined for a body that refers to missing resources; it is checked when it is deployed. */
function bodyOf(resource: PlannedResource): JsonObject | undefined {
  try {
    return resource.body();
  } catch (error) {
    if (error instanceof PendingReference) return undefined;
    throw error;
  }
}
