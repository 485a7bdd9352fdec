/**
 * Every property test starts from one seed, so that a change is judged by what it changed and not by luck. A hunt for
 * rare cases runs with NODEWRIGHT_PROPERTY_SEED=random (and more NODEWRIGHT_PROPERTY_RUNS); what it finds becomes a test.
 */
import fc from 'fast-check';

const asked = process.env['NODEWRIGHT_PROPERTY_SEED'];
const SEED = 1_729;

if (asked !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(asked ?? SEED) });
