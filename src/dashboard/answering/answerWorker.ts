/**
 * The thread that computes the dashboard's answers. It has a copy of the cluster and asks the controller for the rest.
 */
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { InvariantError } from '../../errors/invariantError.ts';
import { failureOf } from './asksOfThread.ts';
import { ControllerLine } from './controllerLine.ts';
import type { FromThread, QuotaLine, ToThread } from './protocol.ts';
import { ThreadAnswers } from './threadAnswers.ts';

/** Of 19: the controller's loops take precedence where processors are few. */
const NICE = 5;

if (parentPort === null) throw new InvariantError('this file is the entry of a thread');
const controller = parentPort;
// On Linux this sets the priority of the calling thread; elsewhere it would affect the whole controller.
if (process.platform === 'linux') setPriority(0, NICE);

const post = (message: FromThread): void => controller.postMessage(message);
const line = new ControllerLine(post, workerData as QuotaLine);
const answers = new ThreadAnswers(line);

controller.on('message', (message: ToThread) => {
  if (message.type === 'question') void answer(message);
  else if (message.type === 'told') line.settle(message);
  else answers.take(message);
});

async function answer({ number, question }: Extract<ToThread, { type: 'question' }>): Promise<void> {
  try {
    post({ type: 'answer', number, value: await answers.to(question) });
  } catch (error) {
    post({ type: 'answer', number, failure: failureOf(error) });
  }
}
