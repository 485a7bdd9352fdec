/**
 * Dual prices of a covering LP: buy, at least cost, fractions of types that together cover the demand for each
 * resource. The dual maximizes a price per unit of each resource such that no type is worth more than it costs. The
 * demand valued at these prices is a lower bound on every purchase that covers it (weak duality). Solved by the simplex
 * method on the dual with a condensed tableau: there are few resources and many types.
 */
import { floatAt, intAt, Rows } from '../rows.ts';

/** Far more than such small programs need. */
const MAX_PIVOTS = 500;
const EPSILON = 1e-12;
/** Compensates for rounding, so that the bound is never too high. */
const SAFETY = 1 - 1e-9;

export interface Covering {
  /** By resource: the amount needed. */
  readonly demand: Float64Array;
  /** Row per type, column per resource. */
  readonly supply: Rows;
  /** By type. */
  readonly price: Float64Array;
}

export interface DualPrices {
  /** By resource. */
  readonly duals: Float64Array;
  readonly bound: number;
  /** By type: number bought in the fractional solution. */
  readonly purchase: Float64Array;
}

export function coveringDuals(problem: Covering): DualPrices {
  const { demand, supply, price } = problem;
  const types = price.length;
  const active = Int32Array.from(demand.keys()).filter((resource) => floatAt(demand, resource) > 0);
  const duals = new Float64Array(demand.length);
  const purchase = new Float64Array(types);
  if (types === 0 || active.length === 0) return { duals, bound: 0, purchase };
  // Maximize Σ y, subject to Σ supply/demand · y ≤ price, y ≥ 0: one y per needed resource, scaled by its demand.
  const tableau = Rows.empty(types, active.length);
  let cell = 0;
  for (let type = 0; type < types; type++) {
    for (const resource of active) {
      tableau.cells[cell] = Math.max(0, supply.get(type, resource)) / floatAt(demand, resource);
      cell += 1;
    }
  }
  const right = price.slice();
  const objective = new Float64Array(active.length).fill(1);
  // A value ≥ 0 is the index of a dual variable; -1 - n is the slack of type n.
  const entering = Int32Array.from(active.keys());
  const basic = new Int32Array(types).map((_, type) => -1 - type);
  for (let pivot = 0; pivot < MAX_PIVOTS; pivot++) {
    const column = steepest(objective);
    if (column < 0) break;
    const row = blockingRow(tableau, right, column);
    // No type supplies this resource, so no price covers the demand.
    if (row < 0) return { duals, bound: 0, purchase };
    pivotOn(tableau, right, objective, row, column);
    const leaving = intAt(basic, row);
    basic[row] = intAt(entering, column);
    entering[column] = leaving;
  }
  basic.forEach((variable, row) => {
    if (variable < 0) return;
    const resource = intAt(active, variable);
    duals[resource] = Math.max(0, floatAt(right, row)) / floatAt(demand, resource);
  });
  entering.forEach((variable, column) => {
    if (variable < 0) purchase[-1 - variable] = Math.max(0, -floatAt(objective, column));
  });
  return { duals, bound: scaleToFeasible(duals, problem), purchase };
}

/** The column that increases the objective most per unit, or -1 at the optimum. */
function steepest(objective: Float64Array): number {
  let best = -1;
  let gain = EPSILON;
  for (let column = 0; column < objective.length; column++) {
    if (floatAt(objective, column) <= gain) continue;
    best = column;
    gain = floatAt(objective, column);
  }
  return best;
}

/** The row that limits the column first, or -1 if none does. */
function blockingRow(tableau: Rows, right: Float64Array, column: number): number {
  let blocking = -1;
  let least = Number.POSITIVE_INFINITY;
  for (let row = 0; row < right.length; row++) {
    const factor = tableau.get(row, column);
    if (factor <= EPSILON) continue;
    const ratio = floatAt(right, row) / factor;
    if (ratio >= least - EPSILON) continue;
    blocking = row;
    least = ratio;
  }
  return blocking;
}

function pivotOn(tableau: Rows, right: Float64Array, objective: Float64Array, row: number, column: number): void {
  const pivot = tableau.get(row, column);
  const pivotRow = tableau.row(row);
  for (let at = 0; at < pivotRow.length; at++) pivotRow[at] = floatAt(pivotRow, at) / pivot;
  pivotRow[column] = 0;
  right[row] = floatAt(right, row) / pivot;
  const { cells, width } = tableau;
  for (let other = 0; other < right.length; other++) {
    const factor = tableau.get(other, column);
    if (other === row || factor === 0) continue;
    subtractRow(cells, other * width, pivotRow, factor);
    cells[other * width + column] = -factor / pivot;
    right[other] = Math.max(0, floatAt(right, other) - factor * floatAt(right, row));
  }
  const gain = floatAt(objective, column);
  subtractRow(objective, 0, pivotRow, gain);
  objective[column] = -gain / pivot;
  pivotRow[column] = 1 / pivot;
}

function subtractRow(cells: Float64Array, start: number, row: Float64Array, times: number): void {
  for (let at = 0; at < row.length; at++) cells[start + at] = floatAt(cells, start + at) - times * floatAt(row, at);
}

/** Scales the duals until no type is worth more than it costs, despite rounding, and returns their bound. */
function scaleToFeasible(duals: Float64Array, { demand, supply, price }: Covering): number {
  let worst = 1;
  for (let type = 0; type < price.length; type++) {
    let value = 0;
    for (let resource = 0; resource < duals.length; resource++) {
      value += Math.max(0, supply.get(type, resource)) * floatAt(duals, resource);
    }
    const cost = floatAt(price, type);
    if (value > cost * worst) worst = cost > 0 ? value / cost : Number.POSITIVE_INFINITY;
  }
  let bound = 0;
  for (let resource = 0; resource < duals.length; resource++) {
    duals[resource] = (floatAt(duals, resource) / worst) * SAFETY;
    bound += floatAt(duals, resource) * floatAt(demand, resource);
  }
  return bound;
}
