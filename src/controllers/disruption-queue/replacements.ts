import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import type { NodePool } from '../../api/kinds/nodePool.ts';
import { NodewrightError } from '../../errors/nodewrightError.ts';
import type { Draft } from '../../kube/kube.ts';
import type { Replacement } from '../../disruption/command.ts';
import { ClaimWriter } from '../claims/claimWriter.ts';
import { deleteClaim } from '../claims/deleteClaim.ts';
import { nodeClaimDraft, staticClaimDraft } from '../claims/nodeClaimDraft.ts';
import { poolInstanceTypes } from '../world/nodeClassOfPool.ts';
import type { World } from '../world/world.ts';
import { stampAnnotations, type CommandStamp } from './commandStamp.ts';

/** A replacement and the claim written for it. */
export interface WrittenReplacement {
  readonly replacement: Replacement;
  readonly claim: NodeClaim;
}

/** Writes the NodeClaims of replacements. */
export class Replacements {
  private readonly world: World;
  private readonly claims: ClaimWriter;

  constructor(world: World) {
    this.world = world;
    this.claims = new ClaimWriter(world);
  }

  /** Creates all or none: if one cannot be written, the others are deleted again before they cost much. */
  async create(
    wanted: readonly Replacement[],
    stamp: CommandStamp,
    reason: string,
    signal: AbortSignal,
  ): Promise<readonly WrittenReplacement[]> {
    const made: WrittenReplacement[] = [];
    try {
      await this.claims.writeAll(wanted, async (replacement) => {
        const name = poolOf(replacement);
        const pool = this.world.informers.nodePools.store.get({ name });
        if (pool === undefined) throw new NodewrightError('NodePoolGone', { nodePool: name });
        const draft = await this.draft(replacement, pool, signal);
        const annotations = { ...draft.metadata.annotations, ...stampAnnotations(stamp) };
        const stamped = { ...draft, metadata: { ...draft.metadata, annotations } };
        made.push({ replacement, claim: await this.claims.write(pool, stamped, reason, signal) });
      });
    } catch (error) {
      for (const { claim } of made) await deleteClaim(this.world.kube, claim);
      throw error;
    }
    return made;
  }

  private async draft(replacement: Replacement, pool: NodePool, signal: AbortSignal): Promise<Draft<NodeClaim>> {
    const { cloud, informers, random, overlays } = this.world;
    const instanceTypes = await poolInstanceTypes(pool, cloud, informers, signal);
    const draw = (): number => random.next();
    if (replacement.kind === 'static') {
      const described = new Set(instanceTypes.flatMap(({ requirements }) => [...requirements.keys()]));
      return staticClaimDraft(pool, described, draw);
    }
    const { plan } = replacement;
    const names = plan.alternatives.map(({ instanceType }) => instanceType);
    return nodeClaimDraft(plan, { pool, instanceTypes }, draw, overlays?.touched(plan.pool, names));
  }
}

export const poolOf = (replacement: Replacement): string =>
  replacement.kind === 'static' ? replacement.pool : replacement.plan.pool;
