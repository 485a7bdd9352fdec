import type { DisruptionNotice } from './disruptionNotice.ts';
import { keptText } from './keptText.ts';
import type { NoticeText } from './notice.ts';

/** Reasons and messages are Karpenter's. */
export function disruptionNoticeText(notice: DisruptionNotice): NoticeText {
  const normal = (reason: string, message: string): NoticeText => ({ type: 'Normal', reason, message });
  switch (notice.kind) {
    case 'replacement-launching':
      return normal('DisruptionLaunching', `Launching NodeClaim: ${notice.reason}`);
    case 'replacement-not-ready':
      return normal('DisruptionWaitingReadiness', 'Waiting on readiness to continue disruption');
    case 'disrupting':
      return normal('DisruptionTerminating', `Disrupting ${notice.object}: ${notice.reason}`);
    case 'disruption-blocked':
      return normal('DisruptionBlocked', keptText(notice.kept));
    case 'unconsolidatable':
      return normal('Unconsolidatable', keptText(notice.kept));
    case 'budget-blocked':
      return normal(
        'DisruptionBlocked',
        `No allowed disruptions for disruption reason ${notice.reason} due to blocking budget`,
      );
    case 'budget-unreadable':
      return {
        type: 'Warning',
        reason: 'DisruptionBlocked',
        message: `No allowed disruptions: spec.disruption.budgets[${notice.index}].${notice.field} "${notice.value}" cannot be read`,
      };
    case 'repair-over-budget':
      return {
        type: 'Warning',
        reason: 'NodeRepairBlocked',
        message: 'No allowed disruptions for disruption reason Drifted due to blocking budget',
      };
    case 'consolidation-approved': {
      const { score, threshold, savingsShare, disruptionShare } = notice;
      const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;
      return normal(
        'ConsolidationApproved',
        `Consolidation approved: score ${score.toFixed(2)} >= ${threshold.toFixed(2)} (k=${1 / threshold}), saves ${percent(savingsShare)} of cost, disrupts ${percent(disruptionShare)}`,
      );
    }
    case 'consolidation-candidate':
      return normal(
        'ConsolidationCandidate',
        `Consolidation candidate: ${notice.command} (savings: $${notice.savingsPerHour.toFixed(2)})`,
      );
    case 'consolidation-rejected':
      return normal(
        'ConsolidationRejected',
        `Consolidation rejected: ${notice.command}, reason: ${notice.reason} (savings: $${notice.savingsPerHour.toFixed(2)})`,
      );
  }
}
