/** Rules for the smaller kinds: namespaces, nodes, services, volumes, budgets, classes and the rest. */
import { isIP } from 'node:net';
import { Quantity } from '../../../units/quantity.ts';
import {
  at,
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
import { admitClaimLimits } from '../admission/limitRanges.ts';
import type { Strategy, StrategyContext } from '../resource.ts';
import { configKeyProblems, labelValueProblems, qualifiedNameProblems } from '../names.ts';
import {
  duplicateValue,
  forbiddenChange,
  invalidValue,
  required,
  unsupportedValue,
  type FieldError,
} from '../status.ts';
import { goStruct } from './goNames.ts';

export const plainStrategy: Strategy = { tracksGeneration: false };

export const generationStrategy: Strategy = { tracksGeneration: true };

export const namespaceStrategy: Strategy = {
  tracksGeneration: false,
  ownsDeletion: true,
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

/** Without word of what the system keeps for itself, everything may be used. */
function defaultAllocatable(node: ApiObject): void {
  const capacity = fieldsAt(node, 'status', 'capacity');
  if (capacity !== undefined) setDefaults(ensureFields(node, 'status'), { allocatable: { ...capacity } });
}

export const nodeStrategy: Strategy = {
  tracksGeneration: false,
  keepsStatusOnCreate: true,
  applyDefaults: (draft) => defaultAllocatable(draft),
  defaultStatus: (draft) => defaultAllocatable(draft),
  validate(draft, old) {
    const errors: FieldError[] = [];
    const seen = new Set<string>();
    listAt(draft, 'spec', 'taints').forEach((taint, index) => {
      const place = `metadata.taints[${index}]`;
      const key = textAt(taint, 'key') ?? '';
      const effect = textAt(taint, 'effect') ?? '';
      for (const why of qualifiedNameProblems(key)) errors.push(invalidValue(`${place}.key`, key, why));
      for (const why of labelValueProblems(textAt(taint, 'value') ?? '')) {
        errors.push(invalidValue(`${place}.value`, textAt(taint, 'value'), why));
      }
      if (effect === '') errors.push(required(`${place}.effect`));
      else if (!EFFECTS.includes(effect)) errors.push(unsupportedValue(`${place}.effect`, effect, EFFECTS));
      const shown = goStruct(taint, { Key: '', Value: '', Effect: '', TimeAdded: null });
      if (seen.has(`${key}:${effect}`)) {
        const error = duplicateValue(place, shown);
        errors.push({ ...error, message: `${error.message}: taints must be unique by key and effect pair` });
      }
      seen.add(`${key}:${effect}`);
    });
    const before = textAt(old, 'spec', 'providerID') ?? '';
    if (before !== '' && textAt(draft, 'spec', 'providerID') !== before) {
      const why = 'node updates may not change providerID except from "" to valid';
      errors.push(forbiddenChange('spec.providerID', why));
    }
    return errors;
  },
};

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

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
    for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
      if (before[field] !== undefined) setDefaults(spec, { [field]: before[field] });
    }
    // The old single field may be changed alone; the list follows it so that the change is seen.
    if (spec['clusterIP'] !== before['clusterIP']) spec['clusterIPs'] = [spec['clusterIP']];
    if (spec['type'] === 'NodePort' || spec['type'] === 'LoadBalancer') giveNodePorts(spec, context);
  },
  validate: checkService,
};

const SERVICE_TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const MAX_PORT = 65_535;

function checkService(draft: ApiObject, old: ApiObject | undefined): FieldError[] {
  const spec = fieldsAt(draft, 'spec') ?? {};
  const errors: FieldError[] = [];
  const ports = listAt(spec, 'ports');
  const names = new Set<string>();
  const addresses = listAt(spec, 'clusterIPs');
  if (spec['type'] !== 'ExternalName' && spec['clusterIP'] !== 'None' && ports.length === 0) {
    errors.push(required('spec.ports'));
  }
  const inRange = (value: unknown): boolean => typeof value !== 'number' || (value >= 1 && value <= MAX_PORT);
  ports.forEach((port, index) => {
    const place = `spec.ports[${index}]`;
    const name = textAt(port, 'name') ?? '';
    if (name === '' && ports.length > 1) errors.push(required(`${place}.name`));
    else if (name !== '' && names.has(name)) errors.push(duplicateValue(`${place}.name`, name));
    names.add(name);
    for (const field of ['port', 'targetPort']) {
      const value = at(port, field);
      if (!inRange(value)) {
        errors.push(invalidValue(`${place}.${field}`, value, `must be between 1 and ${MAX_PORT}, inclusive`));
      }
    }
    const nodePort = at(port, 'nodePort');
    if (typeof nodePort === 'number' && (nodePort < FIRST_NODE_PORT || nodePort > LAST_NODE_PORT)) {
      const why = `provided port is not in the valid range. The range of valid ports is ${FIRST_NODE_PORT}-${LAST_NODE_PORT}`;
      errors.push(invalidValue(`${place}.nodePort`, nodePort, why));
    }
  });
  const type = textAt(spec, 'type') ?? '';
  if (!SERVICE_TYPES.includes(type)) errors.push(unsupportedValue('spec.type', type, SERVICE_TYPES));
  const [address] = addresses;
  if (typeof address === 'string' && address !== 'None' && address !== '' && isIP(address) === 0) {
    const why = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
    errors.push(invalidValue('spec.clusterIPs[0]', address, why));
  }
  const before = listAt(old, 'spec', 'clusterIPs');
  const wasExternal = textAt(old, 'spec', 'type') === 'ExternalName';
  if (before.length > 0 && !wasExternal && type !== 'ExternalName' && !sameJson(addresses, before)) {
    errors.push(invalidValue('spec.clusterIPs[0]', addresses, 'may not change once set'));
  }
  return errors;
}

export const limitRangeStrategy: Strategy = {
  tracksGeneration: false,
  applyDefaults(draft) {
    for (const limit of listAt(draft, 'spec', 'limits')) {
      if (!isFields(limit) || limit['type'] !== 'Container') continue;
      // A maximum is also what a container gets that says nothing; that, in turn, is also what it asks for.
      const fill = (target: string, source: string): void => {
        const from = fieldsAt(limit, source);
        if (from !== undefined) setDefaults(ensureFields(limit, target), from);
      };
      fill('default', 'max');
      fill('defaultRequest', 'default');
      fill('defaultRequest', 'min');
    }
  },
  validate: (draft) => listAt(draft, 'spec', 'limits').flatMap((limit, index) => checkLimit(limit, index)),
};

function checkLimit(limit: unknown, index: number): FieldError[] {
  const errors: FieldError[] = [];
  const amount = (which: string, name: string): Quantity | undefined => {
    const value = fieldsAt(limit, which)?.[name];
    return value === undefined ? undefined : Quantity.tryParse(value as string);
  };
  const names = new Set(
    ['min', 'max', 'default', 'defaultRequest'].flatMap((one) => Object.keys(fieldsAt(limit, one) ?? {})),
  );
  for (const name of names) {
    const least = amount('min', name);
    const most = amount('max', name);
    const usual = amount('default', name);
    const usualRequest = amount('defaultRequest', name);
    const complain = (
      which: string,
      shown: Quantity,
      low: string,
      lower: Quantity,
      high: string,
      upper: Quantity,
    ): void => {
      const why = `${low} value ${lower.toString()} is greater than ${high} value ${upper.toString()}`;
      errors.push(invalidValue(`spec.limits[${index}].${which}[${name}]`, shown.toString(), why));
    };
    if (least && most && least.compare(most) > 0) complain('min', least, 'min', least, 'max', most);
    if (usualRequest && least && least.compare(usualRequest) > 0) {
      complain('defaultRequest', usualRequest, 'min', least, 'default request', usualRequest);
    }
    if (usualRequest && most && usualRequest.compare(most) > 0) {
      complain('defaultRequest', usualRequest, 'default request', usualRequest, 'max', most);
    }
    if (usualRequest && usual && usualRequest.compare(usual) > 0) {
      complain('defaultRequest', usualRequest, 'default request', usualRequest, 'default', usual);
    }
    // Upstream shows the minimum here.
    if (usual && least && least.compare(usual) > 0) complain('default', least, 'min', least, 'default', usual);
    if (usual && most && usual.compare(most) > 0) complain('default', most, 'default', usual, 'max', most);
  }
  return errors;
}

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
  validate(draft, old) {
    const errors = immutableData(draft, old);
    if (old !== undefined && draft['type'] !== old['type']) {
      errors.push(invalidValue('type', draft['type'], 'field is immutable'));
    }
    return errors;
  },
};

export const configMapStrategy: Strategy = {
  tracksGeneration: false,
  validate: (draft, old) => immutableData(draft, old),
};

function immutableData(draft: ApiObject, old: ApiObject | undefined): FieldError[] {
  const errors: FieldError[] = [];
  for (const map of ['data', 'binaryData']) {
    for (const key of Object.keys(fieldsAt(draft, map) ?? {})) {
      for (const why of configKeyProblems(key)) errors.push(invalidValue(`${map}[${key}]`, key, why));
    }
  }
  if (old?.['immutable'] !== true) return errors;
  const why = 'field is immutable when `immutable` is set';
  if (draft['immutable'] !== true) errors.push(forbiddenChange('immutable', why));
  for (const map of ['data', 'binaryData']) {
    if (!sameJson(draft[map], old[map])) errors.push(forbiddenChange(map, why));
  }
  return errors;
}

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

export const claimStrategy: Strategy = {
  tracksGeneration: false,
  applyDefaults(draft) {
    setDefaults(ensureFields(draft, 'spec'), { volumeMode: 'Filesystem' });
  },
  prepareCreate(draft, context) {
    draft['status'] = { phase: 'Pending' };
    admitClaimLimits(draft, context);
    const spec = ensureFields(draft, 'spec');
    if (spec['storageClassName'] !== undefined) return;
    for (const candidate of context.all('storage.k8s.io', 'storageclasses')) {
      if (candidate.metadata.annotations?.[DEFAULT_CLASS] === 'true')
        spec['storageClassName'] = candidate.metadata.name;
    }
  },
  validate(draft, old) {
    if (old === undefined) return checkClaim(draft);
    const fixed = (claim: ApiObject): Fields => {
      const {
        resources: _sizes,
        volumeName: _volume,
        volumeAttributesClassName: _class,
        ...rest
      } = fieldsAt(claim, 'spec') ?? {};
      return rest;
    };
    const isBinding = (textAt(old, 'spec', 'volumeName') ?? '') === '';
    const rebound = !isBinding && textAt(draft, 'spec', 'volumeName') !== textAt(old, 'spec', 'volumeName');
    const why =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    return sameJson(fixed(draft), fixed(old)) && !rebound ? [] : [forbiddenChange('spec', why)];
  },
};

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

function checkModes(draft: ApiObject): FieldError[] {
  const modes = listAt(draft, 'spec', 'accessModes');
  if (modes.length === 0) return [required('spec.accessModes', 'at least 1 access mode is required')];
  const unknown = modes.filter((mode) => !ACCESS_MODES.includes(String(mode)));
  return unknown.map((mode) => unsupportedValue('spec.accessModes', mode, ACCESS_MODES));
}

function checkClaim(draft: ApiObject): FieldError[] {
  const errors = checkModes(draft);
  const size = fieldsAt(draft, 'spec', 'resources', 'requests')?.['storage'];
  if (size === undefined) errors.push(required('spec.resources[storage]'));
  return errors;
}

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];
/** Fields of a volume's spec that are not the place where its data is. */
const NOT_A_SOURCE = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeMode',
  'mountOptions',
  'nodeAffinity',
  'volumeAttributesClassName',
]);

function volumeSource(draft: ApiObject): Fields {
  const entries = Object.entries(fieldsAt(draft, 'spec') ?? {});
  return Object.fromEntries(entries.filter(([field]) => !NOT_A_SOURCE.has(field)));
}

function checkVolume(draft: ApiObject, old: ApiObject | undefined): FieldError[] {
  const errors = checkModes(draft);
  const capacity = fieldsAt(draft, 'spec', 'capacity') ?? {};
  if (Object.keys(capacity).length === 0) errors.push(required('spec.capacity'));
  if (capacity['storage'] === undefined || Object.keys(capacity).length > 1) {
    errors.push(unsupportedValue('spec.capacity', capacity, ['storage']));
  }
  if (Object.keys(volumeSource(draft)).length === 0) errors.push(required('spec', 'must specify a volume type'));
  const policy = textAt(draft, 'spec', 'persistentVolumeReclaimPolicy') ?? '';
  if (!RECLAIM_POLICIES.includes(policy)) {
    errors.push(unsupportedValue('spec.persistentVolumeReclaimPolicy', policy, RECLAIM_POLICIES));
  }
  if (old !== undefined && !sameJson(volumeSource(draft), volumeSource(old))) {
    const why = 'spec.persistentvolumesource is immutable after creation';
    errors.push(forbiddenChange('spec.persistentvolumesource', why));
  }
  return errors;
}

export const volumeStrategy: Strategy = {
  tracksGeneration: false,
  applyDefaults(draft) {
    setDefaults(ensureFields(draft, 'spec'), { volumeMode: 'Filesystem', persistentVolumeReclaimPolicy: 'Retain' });
  },
  prepareCreate(draft, context) {
    draft['status'] = { phase: 'Pending', lastPhaseTransitionTime: context.now };
  },
  validate: checkVolume,
};

export const budgetStrategy: Strategy = {
  tracksGeneration: true,
  prepareCreate(draft) {
    draft['status'] = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
  validate: checkBudget,
};

const EVICTION_POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

function checkBudget(draft: ApiObject): FieldError[] {
  const spec = fieldsAt(draft, 'spec') ?? {};
  const errors: FieldError[] = [];
  if (spec['minAvailable'] !== undefined && spec['maxUnavailable'] !== undefined) {
    const shown = goStruct(spec, {
      MinAvailable: null,
      Selector: null,
      MaxUnavailable: null,
      UnhealthyPodEvictionPolicy: null,
    });
    errors.push(invalidValue('spec', shown, 'minAvailable and maxUnavailable cannot be both set'));
  }
  for (const field of ['minAvailable', 'maxUnavailable']) {
    const value = spec[field];
    if (typeof value === 'number' && value < 0) {
      errors.push(invalidValue(`spec.${field}`, value, 'must be greater than or equal to 0'));
    }
    if (typeof value === 'string' && Number.parseInt(value, 10) > 100) {
      errors.push(invalidValue(`spec.${field}`, value, 'must not be greater than 100%'));
    }
  }
  const policy = textAt(spec, 'unhealthyPodEvictionPolicy');
  if (policy !== undefined && !EVICTION_POLICIES.includes(policy)) {
    errors.push(unsupportedValue('spec.unhealthyPodEvictionPolicy', policy, EVICTION_POLICIES));
  }
  return errors;
}

export const storageClassStrategy: Strategy = {
  tracksGeneration: false,
  applyDefaults(draft) {
    setDefaults(draft, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' });
  },
  validate(draft, old) {
    const errors: FieldError[] = [];
    if ((textAt(draft, 'provisioner') ?? '') === '') errors.push(required('provisioner'));
    const mode = textAt(draft, 'volumeBindingMode') ?? '';
    if (!BINDING_MODES.includes(mode)) errors.push(unsupportedValue('volumeBindingMode', mode, BINDING_MODES));
    if (old === undefined) return errors;
    for (const field of ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode']) {
      if (!sameJson(draft[field], old[field])) errors.push(invalidValue(field, draft[field], 'field is immutable'));
    }
    return errors;
  },
};

const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer'];

export const priorityClassStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    setDefaults(draft, { preemptionPolicy: 'PreemptLowerPriority', value: 0 });
  },
  validate(draft, old) {
    if (old !== undefined) {
      return old['value'] === draft['value'] ? [] : [forbiddenChange('value', 'may not be changed in an update.')];
    }
    const { name } = draft.metadata;
    if (SYSTEM_PRIORITIES.has(name)) return [];
    if (name.startsWith('system-')) {
      const why = `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`;
      return [forbiddenChange('metadata.name', why)];
    }
    return Number(draft['value']) > MAX_PRIORITY
      ? [forbiddenChange('value', `maximum allowed value of a user defined priority is ${MAX_PRIORITY}`)]
      : [];
  },
};

const SYSTEM_PRIORITIES = new Set(['system-node-critical', 'system-cluster-critical']);
const MAX_PRIORITY = 1_000_000_000;

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
  const errors: FieldError[] = [];
  const least = Number(spec['minReplicas'] ?? 1);
  const most = Number(spec['maxReplicas'] ?? 0);
  if (most < 1) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
  if (most < least) {
    errors.push(invalidValue('spec.maxReplicas', most, 'must be greater than or equal to `minReplicas`'));
  }
  for (const field of ['kind', 'name']) {
    if ((textAt(spec, 'scaleTargetRef', field) ?? '') === '') errors.push(required(`spec.scaleTargetRef.${field}`));
  }
  const version = textAt(spec, 'scaleTargetRef', 'apiVersion') ?? '';
  if (version === '') {
    errors.push(invalidValue('spec.scaleTargetRef.apiVersion', version, 'apiVersion must specify API group'));
  }
  return errors;
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
    const kinds = draft.kind === 'RoleBinding' ? ['Role', 'ClusterRole'] : ['ClusterRole'];
    const kind = textAt(draft, 'roleRef', 'kind') ?? '';
    if (!kinds.includes(kind)) return [unsupportedValue('roleRef.kind', kind, kinds)];
    const shown = goStruct(draft['roleRef'], { APIGroup: '', Kind: '', Name: '' });
    return old !== undefined && !sameJson(draft['roleRef'], old['roleRef'])
      ? [invalidValue('roleRef', shown, 'cannot change roleRef')]
      : [];
  },
};

export const roleStrategy: Strategy = {
  tracksGeneration: false,
  validate: (draft) =>
    listAt(draft, 'rules').flatMap((rule, index) =>
      listAt(rule, 'verbs').length === 0
        ? [required(`rules[${index}].verbs`, 'verbs must contain at least one value')]
        : [],
    ),
};

export const leaseStrategy: Strategy = {
  tracksGeneration: false,
  validate(draft) {
    const seconds = at(draft, 'spec', 'leaseDurationSeconds');
    return typeof seconds === 'number' && seconds <= 0
      ? [invalidValue('spec.leaseDurationSeconds', seconds, 'must be greater than 0')]
      : [];
  },
};

export const csiDriverStrategy: Strategy = {
  tracksGeneration: false,
  applyDefaults(draft) {
    setDefaults(ensureFields(draft, 'spec'), {
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      requiresRepublish: false,
      seLinuxMount: false,
      volumeLifecycleModes: ['Persistent'],
    });
  },
};

export const networkPolicyStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    const spec = ensureFields(draft, 'spec');
    setDefaults(spec, { policyTypes: spec['egress'] === undefined ? ['Ingress'] : ['Ingress', 'Egress'] });
    for (const rule of [...listAt(spec, 'ingress'), ...listAt(spec, 'egress')]) {
      for (const port of listAt(rule, 'ports')) if (isFields(port)) setDefaults(port, { protocol: 'TCP' });
    }
  },
};

export const endpointSliceStrategy: Strategy = {
  tracksGeneration: true,
  applyDefaults(draft) {
    for (const port of listAt(draft, 'ports')) if (isFields(port)) setDefaults(port, { name: '', protocol: 'TCP' });
  },
};

export const eventStrategy: Strategy = {
  tracksGeneration: false,
  validate(draft) {
    const about = textAt(draft, 'involvedObject', 'namespace') ?? '';
    const home = draft.metadata.namespace ?? '';
    const matches = about === home || (about === '' && home === 'default');
    return matches ? [] : [invalidValue('involvedObject.namespace', about, 'does not match event.namespace')];
  },
};

export const quotaStrategy: Strategy = {
  tracksGeneration: false,
  validate(draft) {
    return Object.entries(fieldsAt(draft, 'spec', 'hard') ?? {}).flatMap(([name, amount]) =>
      String(amount).startsWith('-')
        ? [invalidValue(`spec.hard[${name}]`, amount, 'must be greater than or equal to 0')]
        : [],
    );
  },
};
