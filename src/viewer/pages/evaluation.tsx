import type { Evaluation } from '../../evaluation/evaluation.js';
import { EvaluationView, Scores } from '../components/evaluation-view.js';
import { standaloneHtml } from '../components/layout.js';
import { Text } from '../components/text.js';

export interface EvaluationPageProps {
  readonly evaluation: Evaluation;
  /** What was scored against what, in words. */
  readonly subject: string;
  readonly style: string;
}

/** A verdict as one file to send around: counts, and no row of a patient. */
export function evaluationHtml({ evaluation, subject, style }: EvaluationPageProps): string {
  return standaloneHtml({
    title: `${evaluation.task}: reward ${evaluation.reward}`,
    style,
    children: (
      <>
        <h1>{evaluation.task}</h1>
        <p class="lead">
          <Text value={subject} />
        </p>
        <Scores reward={evaluation.reward} rewardRobust={evaluation.rewardRobust} evaluation={evaluation} />
        <EvaluationView evaluation={evaluation} />
      </>
    ),
  });
}
