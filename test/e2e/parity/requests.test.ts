/** Every request script at both servers: equal answers, but for the differences that the docs list with a reason. */
import { Normaliser } from './normalise.ts';
import { namespaceFor, play, type Script } from './script.ts';
import { scripts } from './scripts/all.ts';
import { compareWorlds } from './suite.ts';

const LEAST = 600;

compareWorlds({
  title: 'request scripts',
  heading: 'Requests',
  entries: scripts,
  steps: scripts.length,
  least: LEAST,
  isAlone,
  async play(world, one) {
    const normaliser = new Normaliser(world.url);
    const answers = await play(world, one, namespaceFor(one));
    return answers.map((answer) => (answer === undefined ? undefined : normaliser.answer(answer)));
  },
});

/** Others have a namespace, and whatever they make for the whole cluster carries its name. Bookmarks tell of any write. */
function isAlone({ bare, steps }: Script): boolean {
  if (bare === true) return true;
  return steps.some(
    (step) => typeof step === 'object' && ('compact' in step || step.path.includes('allowWatchBookmarks=true')),
  );
}
