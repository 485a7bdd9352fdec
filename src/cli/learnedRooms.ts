/** The real allocatable resources of a cluster's nodes compared to the expected ones, by instance type and image. */
import { Kinds } from '../api/kinds.ts';
import { LEARNED_RESOURCES, LearnedAllocatable } from '../catalogue/learnedAllocatable.ts';
import type { Kube } from '../kube/kube.ts';
import { formatResources, quantityOf } from '../units/resources.ts';

interface LearnedRow {
  readonly instanceType: string;
  readonly image: string;
  readonly nodes: number;
  /** Quantity text by resource. */
  readonly expected: Readonly<Record<string, string>>;
  readonly real: Readonly<Record<string, string>>;
  /** By how many percent a node has more than expected, by resource. */
  readonly more: Readonly<Record<string, number>>;
}

export async function learnedRooms(kube: Kube): Promise<readonly LearnedRow[]> {
  const [claims, nodes] = await Promise.all([kube.list(Kinds.NodeClaim), kube.list(Kinds.Node)]);
  const byProviderID = new Map(claims.items.map((claim) => [claim.status?.providerID ?? '', claim]));
  const learned = new LearnedAllocatable();
  for (const node of nodes.items) {
    const claim = byProviderID.get(node.spec?.providerID ?? '-');
    if (claim !== undefined) learned.learn(claim, node);
  }
  const rows = learned.list().map(({ build, expected, real, nodes: count }) => ({
    instanceType: build.instanceType,
    image: build.imageId.split('/images/').at(-1)?.replace('/versions/', ' ') ?? '',
    nodes: count,
    expected: formatResources(expected),
    real: formatResources(real),
    more: Object.fromEntries(
      LEARNED_RESOURCES.map((name) => {
        const [was, is] = [quantityOf(expected, name).value(), quantityOf(real, name).value()];
        return [name, was === 0 ? 0 : Number(((100 * (is - was)) / was).toFixed(1))];
      }),
    ),
  }));
  return rows.toSorted((left, right) => left.instanceType.localeCompare(right.instanceType));
}

export function learnedTable(rows: readonly LearnedRow[]): string {
  const cells = [
    ['INSTANCE TYPE', 'IMAGE', 'NODES', 'EXPECTED', 'REAL', 'MORE'],
    ...rows.flatMap(({ instanceType, image, nodes, expected, real, more }) =>
      LEARNED_RESOURCES.map((name, index) => [
        ...(index === 0 ? [instanceType, image, String(nodes)] : ['', '', '']),
        `${name} ${expected[name] ?? ''}`,
        real[name] ?? '',
        `${more[name] ?? 0} %`,
      ]),
    ),
  ];
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
