/**
 * Shadow prices. In: what is needed of each resource in total, what each type offers and costs; out: a price per unit
 * of each resource such that no type offers more than its own price in value. Total need at these prices is then a
 * lower bound on what any purchase costs that covers the need (weak duality of the covering LP).
 */

/** Far more than such small programs ever take. */
const MAX_PIVOTS = 500;
const EPSILON = 1e-12;
/** Takes back what rounding may have added, so that the bound is one in truth and not only nearly. */
const SAFETY = 1 - 1e-9;

export interface Covering {
  /** Per resource. */
  readonly demand: Float64Array;
  /** Row per type, column per resource. */
  readonly supply: Float64Array;
  /** Per type. */
  readonly price: Float64Array;
}

export interface ShadowPrices {
  readonly duals: Float64Array;
  readonly bound: number;
  /** Per type: how many the fractional purchase buys. */
  readonly purchase: Float64Array;
}

export function shadowPrices({ demand, supply, price }: Covering): ShadowPrices {
  const columns = demand.length;
  const rows = price.length;
  const active = [...demand.keys()].filter((column) => demand[column]! > 0);
  const duals = new Float64Array(columns);
  const purchase = new Float64Array(rows);
  if (rows === 0 || active.length === 0) return { duals, bound: 0, purchase };
  const width = active.length;
  // Condensed tableau of: maximise Σ y, subject to Σ supply/demand · y ≤ price, y ≥ 0.
  const tableau = new Float64Array(rows * width);
  for (let row = 0; row < rows; row++) {
    for (let at = 0; at < width; at++) {
      const column = active[at]!;
      tableau[row * width + at] = Math.max(0, supply[row * columns + column]!) / demand[column]!;
    }
  }
  const right = price.slice();
  const objective = new Float64Array(width).fill(1);
  // Non-negative: a dual; -1 - n: the slack of type n.
  const entering = Int32Array.from(active.keys());
  const basic = new Int32Array(rows);
  for (let row = 0; row < rows; row++) basic[row] = -1 - row;
  for (let pivot = 0; pivot < MAX_PIVOTS; pivot++) {
    let at = -1;
    for (let each = 0; each < width; each++) {
      if (objective[each]! > EPSILON && (at < 0 || objective[each]! > objective[at]!)) at = each;
    }
    if (at < 0) break;
    let row = -1;
    let best = Number.POSITIVE_INFINITY;
    for (let each = 0; each < rows; each++) {
      const factor = tableau[each * width + at]!;
      if (factor <= EPSILON) continue;
      const ratio = right[each]! / factor;
      if (ratio >= best - EPSILON) continue;
      row = each;
      best = ratio;
    }
    // Nobody offers this resource: what needs it cannot be bought at any price.
    if (row < 0) return { duals, bound: 0, purchase };
    pivotOn(tableau, right, objective, width, row, at);
    [basic[row], entering[at]] = [entering[at]!, basic[row]!];
  }
  for (let row = 0; row < rows; row++) {
    const dual = basic[row]!;
    if (dual >= 0) duals[active[dual]!] = Math.max(0, right[row]!) / demand[active[dual]!]!;
  }
  entering.forEach((variable, at) => {
    if (variable < 0) purchase[-1 - variable] = Math.max(0, -objective[at]!);
  });
  return { duals, bound: scaleToFeasible(duals, { demand, supply, price }), purchase };
}

function pivotOn(
  tableau: Float64Array,
  right: Float64Array,
  objective: Float64Array,
  width: number,
  row: number,
  at: number,
): void {
  const base = row * width;
  const pivot = tableau[base + at]!;
  for (let column = 0; column < width; column++)
    if (column !== at) tableau[base + column] = tableau[base + column]! / pivot;
  right[row] = right[row]! / pivot;
  for (let other = 0; other < right.length; other++) {
    if (other === row) continue;
    const start = other * width;
    const factor = tableau[start + at]!;
    if (factor === 0) continue;
    for (let column = 0; column < width; column++) {
      if (column !== at) tableau[start + column] = tableau[start + column]! - factor * tableau[base + column]!;
    }
    tableau[start + at] = -factor / pivot;
    right[other] = Math.max(0, right[other]! - factor * right[row]!);
  }
  const gain = objective[at]!;
  for (let column = 0; column < width; column++) {
    if (column !== at) objective[column] = objective[column]! - gain * tableau[base + column]!;
  }
  objective[at] = -gain / pivot;
  tableau[base + at] = 1 / pivot;
}

/** Whatever the arithmetic did: after this no type is worth more than it costs. Out: the bound that is left. */
function scaleToFeasible(duals: Float64Array, { demand, supply, price }: Covering): number {
  const columns = demand.length;
  let worst = 1;
  for (let row = 0; row < price.length; row++) {
    let value = 0;
    for (let column = 0; column < columns; column++) {
      value += Math.max(0, supply[row * columns + column]!) * duals[column]!;
    }
    if (value > price[row]! * worst) worst = price[row]! > 0 ? value / price[row]! : Number.POSITIVE_INFINITY;
  }
  let bound = 0;
  for (let column = 0; column < columns; column++) {
    duals[column] = (duals[column]! / worst) * SAFETY;
    bound += duals[column]! * demand[column]!;
  }
  return bound;
}
