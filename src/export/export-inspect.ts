import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { transcriptSchema } from '../agents/transcript.js';
import { recordJson, recordText } from '../audit/record-files.js';
import type { CampaignPlan } from '../campaigns/plan.js';
import { campaignFolder } from '../campaigns/plan.js';
import { readResults } from '../campaigns/run.js';
import { M4BenchError } from '../support/errors.js';
import { writeJsonAtomic } from '../support/files.js';
import type { Home } from '../support/home.js';
import { benchmarkVersion } from '../version.js';
import { type InspectRun, inspectLogs } from './inspect-log.js';

export interface InspectExport {
  readonly folder: string;
  readonly files: readonly string[];
  readonly runs: number;
}

/**
 * Writes the results of a campaign as Inspect logs, one file per cell. With `transcripts` the messages hold what the
 * agent said and what its tools gave back, rows of patients included: for this machine only, unless the campaign was
 * imported from a public package. Throws `EXPORT_EMPTY`.
 */
export async function exportInspect(
  home: Home,
  plan: CampaignPlan,
  folder: string,
  options: { readonly transcripts: boolean },
): Promise<InspectExport> {
  const results = await readResults(home, plan);
  if (results.length === 0) {
    throw new M4BenchError(
      'EXPORT_EMPTY',
      `Campaign ${plan.name} has no finished run.`,
      'Run it first with m4bench campaign run.',
    );
  }
  const runsFolder = campaignFolder(home, plan.name).runs;
  const runs: InspectRun[] = [];
  for (const result of results) {
    const attempt = join(
      runsFolder,
      result.runId,
      'attempts',
      String(result.attempt ?? result.attempts.length),
    );
    const instruction = (await recordText(join(attempt, 'instruction.md'))) ?? '';
    const transcript = options.transcripts
      ? transcriptSchema.safeParse(await recordJson(join(attempt, 'transcript.json')))
      : undefined;
    runs.push({ result, instruction, ...(transcript?.success ? { transcript: transcript.data } : {}) });
  }
  await mkdir(folder, { recursive: true });
  const files: string[] = [];
  for (const { fileName, log } of inspectLogs(runs, benchmarkVersion)) {
    await writeJsonAtomic(join(folder, fileName), log, options.transcripts ? { mode: 0o600 } : {});
    files.push(fileName);
  }
  return { folder, files, runs: results.length };
}
