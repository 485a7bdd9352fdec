interface NodePromise {
  readonly claim: string;
  /** Until when the pod is left to its node, once that node is up. */
  readonly until: number;
}

/** Which pods wait for the node of which claim, by the UID of the pod. Ends with the pod or with the claim. */
export class NodePromises {
  private readonly byPod = new Map<string, NodePromise>();
  private readonly byClaim = new Map<string, Set<string>>();

  set(podUid: string, claim: string, until: number): void {
    this.removePod(podUid);
    this.byPod.set(podUid, { claim, until });
    const pods = this.byClaim.get(claim);
    if (pods === undefined) this.byClaim.set(claim, new Set([podUid]));
    else pods.add(podUid);
  }

  get(podUid: string): NodePromise | undefined {
    return this.byPod.get(podUid);
  }

  removePod(podUid: string): void {
    const promise = this.byPod.get(podUid);
    if (promise === undefined) return;
    this.byPod.delete(podUid);
    const pods = this.byClaim.get(promise.claim);
    pods?.delete(podUid);
    if (pods?.size === 0) this.byClaim.delete(promise.claim);
  }

  removeClaim(claim: string): void {
    for (const podUid of this.byClaim.get(claim) ?? []) this.byPod.delete(podUid);
    this.byClaim.delete(claim);
  }
}
