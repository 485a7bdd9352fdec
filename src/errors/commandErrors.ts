import { entry } from './errorEntry.ts';

export interface OptionProblem {
  /** The option with both of its names: `--metrics-port (METRICS_PORT)`. */
  readonly option: string;
  /** The value, what is wrong with it, and what is allowed. */
  readonly sentence: string;
}

const listed = (problems: readonly OptionProblem[]): string =>
  problems.map(({ option, sentence }) => `\n  ${option}: ${sentence}`).join('');

const SHOWN_PROBLEMS = 5;

/** The first few problems, and the number of others. */
function shortList(problems: readonly string[]): string {
  const more = problems.length - SHOWN_PROBLEMS;
  return `${problems.slice(0, SHOWN_PROBLEMS).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

/** Errors of the command line: options, files and the local world. */
export const commandErrors = {
  InvalidUsage: entry<{ readonly problem: string; readonly command: string }>({
    exit: 'usage',
    about: 'A command was given a verb, flag or value that it does not know, or lacks one that it needs.',
    what: ({ problem }) => problem,
    remedy: ({ command }) => `see \`${command} --help\``,
    example: { problem: "unknown option '--regoin' (Did you mean --region?)", command: 'nodewright plan' },
  }),
  InvalidOptions: entry<{ readonly problems: readonly OptionProblem[] }>({
    exit: 'usage',
    about: 'Options of `nodewright run` are missing or cannot be read. All problems are listed at once.',
    what: ({ problems }) =>
      `${problems.length === 1 ? 'one option is' : `${problems.length} options are`} wrong:${listed(problems)}`,
    remedy: () => 'see `nodewright run --help` for every option',
    example: { problems: [{ option: '--metrics-port', sentence: '"x" is not a whole number; allowed is a port' }] },
  }),
  UnsupportedOptions: entry<{ readonly problems: readonly OptionProblem[] }>({
    exit: 'usage',
    about: '`nodewright up` was given options after `--` that the local world decides itself.',
    what: ({ problems }) =>
      `${problems.length === 1 ? 'one option is' : `${problems.length} options are`} not supported:${listed(problems)}`,
    remedy: () => 'leave them out; `nodewright up --help` has the flags of the local world',
    example: { problems: [{ option: '--cluster-name', sentence: 'the local world decides this itself' }] },
  }),
  BeforeRecording: entry<{ readonly file: string; readonly asked: string; readonly begin: string }>({
    exit: 'usage',
    about: '`nodewright replay --at` was given a time before the snapshot or recording begins.',
    what: ({ file, asked, begin }) => `${file} begins at ${begin} and knows nothing of ${asked}`,
    remedy: ({ begin }) => `give a time from ${begin} on`,
    example: { file: 'cluster.json', asked: '2026-01-30T00:00:00Z', begin: '2026-01-31T12:00:00Z' },
  }),
  FileUnreadable: entry<{ readonly file: string; readonly purpose: string; readonly problem: string }>({
    exit: 'usage',
    about: 'A file that the command line or an option names cannot be read.',
    where: ({ file }) => file,
    what: ({ purpose, problem }) => `cannot read this ${purpose}: ${problem}`,
    remedy: () => 'give the path of a file that this process may read',
    example: { file: 'prices.json', purpose: 'catalogue', problem: 'there is no such file' },
  }),
  FileUnwritable: entry<{ readonly file: string; readonly purpose: string; readonly problem: string }>({
    exit: 'failure',
    about: 'A file that the command line names cannot be written.',
    where: ({ file }) => file,
    what: ({ purpose, problem }) => `cannot write this ${purpose}: ${problem}`,
    remedy: () => 'give a path that this process may write, on a disk with room',
    example: { file: '/backup/cluster.json', purpose: 'snapshot', problem: 'there is no such folder' },
  }),
  FileInvalid: entry<{ readonly file: string; readonly purpose: string; readonly problems: readonly string[] }>({
    exit: 'usage',
    about: 'A file was read, but its content is not what the option needs.',
    where: ({ file }) => file,
    what: ({ purpose, problems }) => `this is not a usable ${purpose}: ${shortList(problems)}`,
    remedy: ({ purpose }) => `correct the ${purpose} and run again`,
    example: { file: 'prices.json', purpose: 'catalogue', problems: ['instanceTypes[0].name: is required'] },
  }),
  ClientMissing: entry<{ readonly client: string; readonly package: string }>({
    exit: 'usage',
    about: 'A verb runs a program that is not installed.',
    what: ({ client }) => `the program ${client} cannot be found`,
    remedy: ({ package: name }) => `install the package ${name}, and see that it is in PATH`,
    example: { client: 'az', package: 'azure-cli' },
  }),
  SignInFailed: entry<{ readonly command: string; readonly code: number }>({
    exit: 'failure',
    about: 'The Azure CLI could not be signed in to the local Azure.',
    what: ({ command, code }) => `\`${command}\` ended with code ${code}`,
    remedy: () => 'correct what its message above says; check that `nodewright up` still runs',
    example: { command: 'az login', code: 1 },
  }),
  NoManifests: entry<{ readonly folder: string }>({
    exit: 'usage',
    about: 'A folder that was given with -f holds no manifests.',
    where: ({ folder }) => folder,
    what: () => 'this folder holds no .yaml, .yml or .json file',
    remedy: () => 'give another folder, or the files themselves',
    example: { folder: 'manifests' },
  }),
  InputTooLarge: entry<{ readonly path: string; readonly limit: string }>({
    exit: 'usage',
    about: 'A manifest or a folder of manifests exceeds what is read in one run.',
    where: ({ path }) => path,
    what: ({ limit }) => `this is more than ${limit}`,
    remedy: () => 'give fewer or smaller manifests',
    example: { path: 'manifests', limit: '20000 files' },
  }),
  NothingToPlan: entry<Record<never, never>>({
    exit: 'usage',
    about: '`nodewright plan` was called without manifests.',
    what: () => 'nothing to plan',
    remedy: () => 'name manifests with -f, or - for standard input',
    example: {},
  }),
  PlanChecksFailed: entry<{ readonly failures: readonly string[]; readonly option?: string }>({
    exit: 'failure',
    about:
      'The plan was made, but a --fail-on condition or --max-cost-increase does not hold, or the input has mistakes.',
    what: ({ failures }) => failures.join('; '),
    remedy: ({ option }) =>
      option === undefined
        ? 'correct what the messages above name'
        : `correct what the plan and the messages above name, or change ${option}`,
    example: { failures: ['2 pods cannot be placed'], option: '--fail-on' },
  }),
  NothingToConvert: entry<Record<never, never>>({
    exit: 'usage',
    about: '`nodewright convert` was called without manifests.',
    what: () => 'nothing to convert',
    remedy: () => 'name manifests with -f, or - for standard input',
    example: {},
  }),
  ConversionIncomplete: entry<{ readonly mistakes: number; readonly lost: number }>({
    exit: 'failure',
    about:
      'Manifests were converted, but some could not be read, or --strict was given and something has no equivalent.',
    what: ({ mistakes, lost }) =>
      [
        ...(mistakes > 0 ? [`${mistakes === 1 ? 'one manifest' : `${mistakes} manifests`} could not be read`] : []),
        ...(lost > 0 ? [`${lost === 1 ? 'one field has' : `${lost} fields have`} no equivalent`] : []),
      ].join(', '),
    remedy: ({ mistakes }) =>
      mistakes > 0
        ? 'correct what the messages above name'
        : 'change what the messages above name, or leave --strict out',
    example: { mistakes: 0, lost: 2 },
  }),
  NoImage: entry<Record<never, never>>({
    exit: 'usage',
    about: '`nodewright aks enable` was called without an image of nodewright.',
    what: () => 'no image was given',
    remedy: () => 'name your image with --image, or use --managed for node auto-provisioning by AKS',
    example: {},
  }),
  NoSubscription: entry<Record<never, never>>({
    exit: 'usage',
    about: 'A command that needs Azure was called without a subscription.',
    what: () => 'no subscription was given',
    remedy: () => 'give --subscription, or set AZURE_SUBSCRIPTION_ID',
    example: {},
  }),
  NothingToMigrate: entry<{ readonly what: string }>({
    exit: 'failure',
    about: '`nodewright migrate` found nothing to migrate.',
    what: ({ what }) => `there is nothing to migrate: ${what}`,
    remedy: () => 'see `nodewright aks status`',
    example: { what: 'there is no Deployment karpenter in kube-system' },
  }),
  NoSuchCluster: entry<{ readonly resourceGroup: string; readonly name: string }>({
    exit: 'failure',
    about: 'There is no AKS cluster of the given name in the given resource group.',
    what: ({ resourceGroup, name }) => `there is no cluster ${name} in the resource group ${resourceGroup}`,
    remedy: () => 'see `az aks list`, and set --subscription when it is in another one',
    example: { resourceGroup: 'shop', name: 'shop' },
  }),
  ClusterUnfit: entry<{ readonly problems: readonly string[]; readonly remedy?: string }>({
    exit: 'failure',
    about: 'A cluster does not have what nodewright needs; `nodewright aks check` lists it.',
    what: ({ problems }) => `the cluster is not ready: ${problems.join('; ')}`,
    remedy: ({ remedy = 'do what `nodewright aks check` says of each' }) => remedy,
    example: { problems: ['the network plugin is kubenet'] },
  }),
  StepFailed: entry<{ readonly step: string; readonly problem: string; readonly remedy?: string }>({
    exit: 'failure',
    about: 'A step of `nodewright aks` or `nodewright migrate` failed. The changes of this run were undone.',
    what: ({ step, problem }) => `the step ${step} failed: ${problem}`,
    remedy: ({ remedy = 'fix its cause' }) => `${remedy}; run the same command again to continue`,
    example: { step: 'identity', problem: 'The client does not have authorization' },
  }),
  AlreadyManaged: entry<Record<never, never>>({
    exit: 'failure',
    about: 'A hand-over to AKS failed after AKS had begun to provision nodes: the controller before it stays stopped.',
    what: () => 'AKS already provisions nodes in this cluster',
    remedy: () => 'run the same command again to continue',
    example: {},
  }),
  NotReadyInTime: entry<{ readonly what: string; readonly seconds: number }>({
    exit: 'failure',
    about: 'Something that was installed is not ready in time.',
    what: ({ what, seconds }) => `${what} is not ready after ${seconds} s`,
    remedy: () => 'see its pods with `kubectl -n kube-system describe pods`, or give a longer --timeout',
    example: { what: 'Deployment kube-system/nodewright', seconds: 300 },
  }),
  NodesLeft: entry<{ readonly nodes: readonly string[]; readonly seconds: number }>({
    exit: 'failure',
    about: 'Nodes of nodewright are still there when they should have been drained.',
    what: ({ nodes, seconds }) =>
      `${nodes.length === 1 ? '1 node is' : `${nodes.length} nodes are`} left after ${seconds} s: ${shortList(nodes)}`,
    remedy: () => 'see what blocks them with `nodewright explain node`, and add capacity (--add-pool) or give --drain',
    example: { nodes: ['aks-default-x1'], seconds: 1800 },
  }),
  PodsWait: entry<{ readonly pods: readonly string[]; readonly seconds: number }>({
    exit: 'failure',
    about:
      'Pods of nodes that `nodewright migrate agent-pools` took away find no place. Their pool has its nodes again.',
    what: ({ pods, seconds }) => `${pods.length} pods have no place after ${seconds} s: ${shortList(pods)}`,
    remedy: () => 'see what blocks them with `nodewright explain pod`',
    example: { pods: ['default/web-1'], seconds: 1800 },
  }),
  DataWouldBeLost: entry<{ readonly pods: readonly string[] }>({
    exit: 'failure',
    about:
      '`nodewright migrate self-hosted` must drain every node, and pods on them keep data there or would not come back.',
    what: ({ pods }) => `${pods.length} pods would lose data or not come back: ${shortList(pods)}`,
    remedy: () =>
      'move their data to volumes or remove the pods; --delete-emptydir-data accepts the loss of emptyDir volumes',
    example: { pods: ['default/cache-0 (emptyDir data)'] },
  }),
  UnknownKinds: entry<{ readonly kinds: readonly string[]; readonly known: readonly string[] }>({
    exit: 'usage',
    about: '`nodewright crds` was asked for a kind that it does not have.',
    what: ({ kinds }) => `there is no kind ${kinds.map((kind) => `"${kind}"`).join(', ')}`,
    remedy: ({ known }) => `choose from ${known.join(', ')}`,
    example: { kinds: ['pods'], known: ['nodepools', 'nodeclaims'] },
  }),
  InvalidFault: entry<{ readonly problem: string }>({
    exit: 'usage',
    about: '`nodewright fault` was given a fault that it cannot read.',
    what: ({ problem }) => problem,
    remedy: () => 'see `nodewright fault --help` for the faults and their parameters',
    example: { problem: 'throttle share: "2" is not a share from 0 to 1' },
  }),
  NoLocalWorld: entry<{ readonly stateDirectory: string }>({
    exit: 'failure',
    about: 'No local world runs in the given state directory.',
    where: ({ stateDirectory }) => stateDirectory,
    what: () => 'no local world runs there',
    remedy: () => 'start one with `nodewright up`, or give its --state-dir',
    example: { stateDirectory: '.nodewright' },
  }),
  LocalWorldSilent: entry<{ readonly url: string }>({
    exit: 'failure',
    about: 'The local world that the state directory names does not answer.',
    where: ({ url }) => url,
    what: () => 'the local world does not answer',
    remedy: () => 'start it again with `nodewright up`',
    example: { url: 'http://127.0.0.1:4000' },
  }),
  LocalWorldRefused: entry<{ readonly url: string; readonly problem: string }>({
    exit: 'failure',
    about: 'The local world refused a request of `nodewright fault`.',
    where: ({ url }) => url,
    what: ({ problem }) => problem,
    remedy: () => 'list the faults that are on with `nodewright fault --list`',
    example: { url: 'http://127.0.0.1:4000', problem: 'there is no fault 7' },
  }),
  WorldUnusable: entry<{ readonly problem: string }>({
    exit: 'failure',
    about: 'The world that an earlier `nodewright up` left in the state directory cannot be continued.',
    what: ({ problem }) => problem,
    remedy: () => 'start anew with --fresh, or give another --state-dir',
    example: { problem: '.nodewright/worlds/quiet/world.json is damaged' },
  }),
  StateDirectoryUnusable: entry<{ readonly path: string; readonly problem: string; readonly advice: string }>({
    exit: 'failure',
    about: '`nodewright up` cannot keep its state in the given directory.',
    where: ({ path }) => path,
    what: ({ problem }) => problem,
    remedy: ({ advice }) => advice,
    example: { path: '.nodewright', problem: 'this is a file', advice: 'give a directory as --state-dir' },
  }),
  TrapsFound: entry<{ readonly findings: number; readonly severity: string }>({
    exit: 'failure',
    about: '`doctor` found problems of the severity in --fail-on, or worse.',
    what: ({ findings, severity }) =>
      `${findings} of the findings ${findings === 1 ? 'is' : 'are'} ${severity} or worse`,
    remedy: () => 'apply the fixes reported with them, or raise --fail-on',
    example: { findings: 2, severity: 'error' },
  }),
  NothingToApply: entry<Record<string, never>>({
    exit: 'failure',
    about: '`explain --apply` or `-o apply` was asked for, and no change was found that helps.',
    what: () => 'there is no fix to apply',
    remedy: () =>
      'read the evidence: what it names has to change first; `-o apply` cannot make objects again, `--apply` can',
    example: {},
  }),
  NotConfirmed: entry<Record<string, never>>({
    exit: 'failure',
    about: '`explain --apply` asked whether to apply the fix, and its input ended without an answer.',
    what: () => 'nothing was changed: the question whether to apply the fix has no answer',
    remedy: () => 'answer y on a terminal or on standard input, or give --yes',
    example: {},
  }),
  TooManyFaults: entry<{ readonly limit: number }>({
    exit: 'failure',
    about: 'The local world has as many faults as it can have at a time.',
    what: ({ limit }) => `there are ${limit} faults already`,
    remedy: () => 'clear some with `nodewright fault --clear`',
    example: { limit: 1000 },
  }),
  LocalRangeExhausted: entry<{ readonly what: string; readonly range: string }>({
    exit: 'failure',
    about: 'The local world has no address or port left to give.',
    what: ({ what, range }) => `no ${what} is left (${range})`,
    remedy: ({ what }) => `delete objects that hold a ${what}`,
    example: { what: 'service address', range: '10.0.0.0/16' },
  }),
};
