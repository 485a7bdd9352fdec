/** Rules for the smaller kinds: namespaces, nodes, services, volumes, budgets, classes and the rest. */
import {
  ensureFields,
  fieldsAt,
  isFields,
  listAt,
  sameJson,
  setDefaults,
  textAt,
  type ApiObject,
  type Fields,
} from '../fields.ts';
import type { Strategy, StrategyContext } from '../resource.ts';
import { forbiddenChange, invalidValue, required, type FieldError } from '../status.ts';

export const plainStrategy: Strategy = { tracksGeneration: false };

export const generationStrategy: Strategy = { tracksGeneration: true };

export const namespaceStrategy: Strategy = {
  tracksGeneration: false,
  applyDefaults(draft) {
    draft.metadata.labels = { ...draft.metadata.labels, 'kubernetes.io/metadata.name': draft.metadata.name };
  },
  prepareCreate(draft) {
    draft['spec'] = { finalizers: ['kubernetes'] };
    draft['status'] = { phase: 'Active' };
  },
  prepareUpdate(draft, old) {
    // Only the namespace controller, through `finalize`, may take these away.
    draft['spec'] = old['spec'];
  },
};

export const nodeStrategy: Strategy = {
  tracksGeneration: false,
  keepsStatusOnCreate: true,
  applyDefaults(draft) {
    const capacity = fieldsAt(draft, 'status', 'capacity');
    if (capacity !== undefined) setDefaults(ensureFields(draft, 'status'), { allocatable: { ...capacity } });
  },
};

const FIRST_ADDRESS = 1;
const LAST_ADDRESS = 0xfffe;
const FIRST_NODE_PORT = 30_000;
const LAST_NODE_PORT = 32_767;

/** The lowest address of 10.0.0.0/16 that no service has. */
function freeClusterIp(context: StrategyContext): string {
  const taken = new Set<string>();
  for (const service of context.all('', 'services')) taken.add(textAt(service, 'spec', 'clusterIP') ?? '');
  for (let host = FIRST_ADDRESS; host <= LAST_ADDRESS; host++) {
    const address = `10.0.${host >> 8}.${host & 255}`;
    if (!taken.has(address)) return address;
  }
  throw new Error('no service address is left in 10.0.0.0/16');
}

function takenNodePorts(context: StrategyContext): Set<unknown> {
  const taken = new Set<unknown>();
  for (const service of context.all('', 'services')) {
    for (const port of listAt(service, 'spec', 'ports')) if (isFields(port)) taken.add(port['nodePort']);
  }
  return taken;
}

function giveNodePorts(spec: Fields, context: StrategyContext): void {
  const taken = takenNodePorts(context);
  for (const port of listAt(spec, 'ports')) {
    if (!isFields(port) || typeof port['nodePort'] === 'number') continue;
    let candidate = FIRST_NODE_PORT;
    while (taken.has(candidate) && candidate <= LAST_NODE_PORT) candidate++;
    if (candidate > LAST_NODE_PORT) throw new Error('no node port is left');
    taken.add(candidate);
    port['nodePort'] = candidate;
  }
}

export const serviceStrategy: Strategy = {
  tracksGeneration: false,
  applyDefaults(draft) {
    const spec = ensureFields(draft, 'spec');
    setDefaults(spec, { type: 'ClusterIP', sessionAffinity: 'None' });
    if (spec['type'] === 'ExternalName') return;
    setDefaults(spec, { internalTrafficPolicy: 'Cluster' });
    if (spec['type'] !== 'ClusterIP') setDefaults(spec, { externalTrafficPolicy: 'Cluster' });
    if (spec['type'] === 'LoadBalancer') setDefaults(spec, { allocateLoadBalancerNodePorts: true });
    for (const port of listAt(spec, 'ports')) {
      if (isFields(port)) setDefaults(port, { protocol: 'TCP', targetPort: port['port'] });
    }
  },
  prepareCreate(draft, context) {
    const spec = ensureFields(draft, 'spec');
    draft['status'] = { loadBalancer: {} };
    if (spec['type'] === 'ExternalName') return;
    if (spec['clusterIP'] === undefined || spec['clusterIP'] === '') spec['clusterIP'] = freeClusterIp(context);
    setDefaults(spec, { clusterIPs: [spec['clusterIP']], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' });
    if (spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer') giveNodePorts(spec, context);
  },
  prepareUpdate(draft, old, context) {
    const spec = ensureFields(draft, 'spec');
    if (spec['type'] === 'ExternalName') return;
    // A replace that leaves the address out means "as it is".
    const before = fieldsAt(old, 'spec') ?? {};
    setDefaults(spec, { clusterIP: before['clusterIP'], clusterIPs: before['clusterIPs'] });
    if (spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer') giveNodePorts(spec, context);
  },
  validate(draft) {
    const spec = fieldsAt(draft, 'spec') ?? {};
    const needsPorts = spec['type'] !== 'ExternalName' && spec['clusterIP'] !== 'None';
    return needsPorts && listAt(spec, 'ports').length === 0 ? [required('spec.ports')] : [];
  },
};

export const secretStrategy: Strategy = {
  tracksGeneration: false,
  applyDefaults(draft) {
    setDefaults(draft, { type: 'Opaque' });
    const plain = fieldsAt(draft, 'stringData');
    if (plain === undefined) return;
    const data = ensureFields(draft, 'data');
    for (const [name, value] of Object.entries(plain)) data[name] = Buffer.from(String(value)).toString('base64');
    delete draft['stringData'];
  },
  validate: (draft, old) => immutableData(draft, old),
};

export const configMapStrategy: Strategy = {
  tracksGeneration: false,
  validate: (draft, old) => immutableData(draft, old),
};

function immutableData(draft: ApiObject, old: ApiObject | undefined): ReturnType<typeof forbiddenChange>[] {
  if (old?.['immutable'] !== true) return [];
  const same = sameJson(draft['data'], old['data']) && sameJson(draft['binaryData'], old['binaryData']);
  return same && draft['immutable'] === true
    ? []
    : [forbiddenChange('data', 'field is immutable when `immutable` is set')];
}

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

export const claimStrategy: Strategy = {
  tracksGeneration: false,
  applyDefaults(draft) {
    setDefaults(ensureFields(draft, 'spec'), { volumeMode: 'Filesystem' });
  },
  prepareCreate(draft, context) {
    draft['status'] = { phase: 'Pending' };
    const spec = ensureFields(draft, 'spec');
    if (spec['storageClassName'] !== undefined) return;
    for (const candidate of context.all('storage.k8s.io', 'storageclasses')) {
      if (candidate.metadata.annotations?.[DEFAULT_CLASS] === 'true')
        spec['storageClassName'] = candidate.metadata.name;
    }
  },
};

export const volumeStrategy: Strategy = {
  tracksGeneration: false,
  applyDefaults(draft) {
    setDefaults(ensureFields(draft, 'spec'), { volumeMode: 'Filesystem', persistentVolumeReclaimPolicy: 'Retain' });
  },
  prepareCreate(draft) {
    draft['status'] = { phase: 'Pending' };
  },
};

export const budgetStrategy: Strategy = {
  tracksGeneration: true,
  prepareCreate(draft) {
    draft['status'] = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
  validate(draft) {
    const spec = fieldsAt(draft, 'spec') ?? {};
    return spec['minAvailable'] !== undefined && spec['maxUnavailable'] !== undefined
      ? [invalidValue('spec', spec, 'minAvailable and maxUnavailable cannot be both set')]
      : [];
  },
};

export const storageClassStrategy: Strategy = {
  tracksGeneration: false,
  applyDefaults(draft) {
    setDefaults(draft, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' });
  },
  validate: (draft) => ((textAt(draft, 'provisioner') ?? '') === '' ? [required('provisioner')] : []),
};

export const priorityClassStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    setDefaults(draft, { preemptionPolicy: 'PreemptLowerPriority', value: 0 });
  },
  validate(draft, old) {
    return old !== undefined && old['value'] !== draft['value']
      ? [forbiddenChange('value', 'may not be changed in an update.')]
      : [];
  },
};

const CPU_TARGET = 80;

export const autoscalerStrategy: Strategy = {
  tracksGeneration: false,
  applyDefaults(draft) {
    const spec = ensureFields(draft, 'spec');
    setDefaults(spec, {
      minReplicas: 1,
      metrics: [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: CPU_TARGET } },
        },
      ],
    });
  },
  validate: checkReplicaBounds,
};

export const autoscalerVersion1Strategy: Strategy = {
  tracksGeneration: false,
  applyDefaults(draft) {
    setDefaults(ensureFields(draft, 'spec'), { minReplicas: 1, targetCPUUtilizationPercentage: CPU_TARGET });
  },
  validate: checkReplicaBounds,
};

function checkReplicaBounds(draft: ApiObject): FieldError[] {
  const spec = fieldsAt(draft, 'spec') ?? {};
  const least = Number(spec['minReplicas'] ?? 1);
  const most = Number(spec['maxReplicas'] ?? 0);
  if (most < 1) return [invalidValue('spec.maxReplicas', most, 'must be greater than 0')];
  if (most >= least) return [];
  return [invalidValue('spec.maxReplicas', most, 'must be greater than or equal to `minReplicas`')];
}

export const roleBindingStrategy: Strategy = {
  tracksGeneration: false,
  applyDefaults(draft) {
    for (const subject of listAt(draft, 'subjects')) {
      if (isFields(subject) && subject['kind'] !== 'ServiceAccount') {
        setDefaults(subject, { apiGroup: 'rbac.authorization.k8s.io' });
      }
    }
  },
  validate(draft, old) {
    return old !== undefined && !sameJson(draft['roleRef'], old['roleRef'])
      ? [invalidValue('roleRef', draft['roleRef'], 'cannot change roleRef')]
      : [];
  },
};
