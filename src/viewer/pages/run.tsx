import { formatBytes, formatThousands } from '../../analysis/number-format.js';
import { formatCell } from '../../analysis/tables.js';
import type { EvaluationExamples } from '../../evaluation/evaluation.js';
import type { CanaryReport, LintReport } from '../../runs/gates.js';
import type { RunResult } from '../../runs/result.js';
import type { AttemptFile } from '../attempt-files.js';
import type { CampaignView } from '../campaign-view.js';
import { Badge, Facts } from '../components/bits.js';
import { EvaluationView, Scores } from '../components/evaluation-view.js';
import { pageHtml } from '../components/layout.js';
import { Scroll } from '../components/scroll.js';
import { Text, TextBlock } from '../components/text.js';
import { runAgainCommand, shellWord } from '../run-commands.js';
import type { Site } from '../site.js';
import { timeText } from '../time-text.js';

/** What only the local viewer shows of a run: files, and rows of patients. */
export interface LocalRun {
  /** Attempt that is shown. */
  readonly n: number;
  readonly folder: string;
  readonly files: readonly AttemptFile[];
  readonly examples: EvaluationExamples | undefined;
  readonly canaries: CanaryReport | undefined;
  readonly lint: LintReport | undefined;
  /** Runs of the same task that can be laid beside this one. */
  readonly others: readonly { readonly text: string; readonly href: string }[];
}

export interface RunPageProps {
  readonly view: CampaignView;
  readonly site: Site;
  readonly result: RunResult;
  /** Undefined in a report. */
  readonly local?: LocalRun;
}

/** One run: verdict, where it went wrong, what it cost, whether it may be published, and where its files are. */
export function runHtml({ view, site, result, local }: RunPageProps): string {
  const { cell, evaluation } = result;
  return pageHtml({
    title: `${cell.task}, ${cell.condition}, trial ${result.trial}`,
    site,
    campaign: view.name,
    place: 'runs',
    trail: [{ text: 'Runs', href: site.runs }],
    children: (
      <>
        <h1>
          <a href={site.task(cell.task)}>{cell.task}</a> <span class="thin">{cell.condition}</span>
        </h1>
        <p class="lead">
          <Text
            value={`${cell.agent} · ${cell.model ?? 'default model'} · ${cell.effort} · trial ${result.trial}`}
          />{' '}
          <State result={result} />
        </p>
        <Scores reward={result.reward} rewardRobust={result.rewardRobust} evaluation={evaluation} />
        {result.failureReason === null ? null : (
          <p class="failure">
            <b>{result.failureClass === 'agent' ? 'The agent failed' : 'Infrastructure failed'}:</b>{' '}
            <Text value={result.failureReason} />
          </p>
        )}
        {local === undefined ? null : <Doors site={site} result={result} local={local} />}
        {evaluation === null ? (
          <p>No output was judged.</p>
        ) : (
          <EvaluationView
            evaluation={evaluation}
            {...(local?.examples === undefined ? {} : { examples: local.examples })}
            keyColumns={view.tasks.get(cell.task)?.contract.keyColumns ?? []}
          />
        )}
        <Asked result={result} local={local} />
        <Spent result={result} />
        <Integrity result={result} local={local} />
        <Attempts site={site} result={result} />
        {local === undefined ? null : <Files site={site} result={result} local={local} />}
        <Hashes result={result} />
      </>
    ),
  });
}

function State({ result }: { readonly result: RunResult }) {
  return (
    <>
      {result.status === 'unjudged' ? (
        <Badge kind="warn">unjudged</Badge>
      ) : result.failureClass === 'agent' ? (
        <Badge kind="bad">agent failed</Badge>
      ) : result.evaluation?.strictPass ? (
        <Badge kind="good">strict pass</Badge>
      ) : (
        <Badge kind="plain">judged</Badge>
      )}{' '}
      {result.publishable ? (
        <Badge kind="good">publishable</Badge>
      ) : (
        <Badge kind="warn">not publishable</Badge>
      )}
    </>
  );
}

/** Ways on: transcript, log, output, comparison. */
function Doors({
  site,
  result,
  local,
}: {
  readonly site: Site;
  readonly result: RunResult;
  readonly local: LocalRun;
}) {
  const attempt = site.attempt(result.runId, local.n)!;
  const has = (path: string): boolean => local.files.some((file) => file.path === path);
  return (
    <div class="doors">
      {has('trace.jsonl') || has('transcript.json') ? (
        <a class="button" href={`${attempt}/transcript`}>
          Transcript
        </a>
      ) : null}
      {has('gateway.jsonl') ? (
        <a class="button" href={`${attempt}/gateway`}>
          Gateway and egress log
        </a>
      ) : null}
      {has('output.csv') ? (
        <a class="button" href={`${attempt}/files/output.csv`}>
          Output
        </a>
      ) : null}
      {local.others.length === 0 ? null : (
        <details class="others">
          <summary>Compare with …</summary>
          <ul>
            {local.others.map(({ text, href }) => (
              <li key={href}>
                <a href={href}>
                  <Text value={text} />
                </a>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function Asked({ result, local }: { readonly result: RunResult; readonly local: LocalRun | undefined }) {
  const { cell } = result;
  const commands = [
    `# again, as a new run\n${runAgainCommand(result)}`,
    ...(local === undefined
      ? []
      : [
          `# the agent's trace as text\nm4bench transcript ${shellWord(local.folder)}`,
          `# the same output, scored again\nm4bench evaluate ${shellWord(cell.task)} ${shellWord(`${local.folder}/output.csv`)} --dataset ${shellWord(cell.dataset)}`,
        ]),
  ];
  return (
    <section aria-labelledby="asked">
      <h2 id="asked">What was asked</h2>
      <Facts
        facts={[
          ['task', cell.task],
          ['condition', cell.condition],
          ['schema', cell.schema],
          ['dataset', `${result.dataset.name}${result.dataset.verified ? '' : ' (UNVERIFIED)'}`],
          ['protocol', cell.protocol],
          ['agent', cell.agent],
          ['CLI version asked', cell.cliVersion],
          ['CLI version seen', result.observed.cliVersion],
          ['model asked', cell.model],
          ['models seen', result.observed.models.join(', ')],
          ['overrides', result.observed.overrides.join(', ')],
          ['effort', cell.effort],
          ['way to the model', cell.auth === 'login' ? "the CLI's own login" : 'keys at the gateway'],
          ['skills placed', result.skill.placed.join(', ')],
          ['skills offered', result.skill.offered.join(', ')],
          ['skills opened', result.skill.opened.join(', ')],
          ['run', <code key="run">{result.runId}</code>],
        ]}
      />
      <TextBlock value={commands.join('\n\n')} />
    </section>
  );
}

function Spent({ result }: { readonly result: RunResult }) {
  const { seconds, tokens, agentTokens, cost } = result;
  const counted = (value: number | undefined): string | null =>
    value === undefined ? null : formatThousands(value);
  return (
    <section aria-labelledby="spent">
      <h2 id="spent">What it took</h2>
      <Facts
        facts={[
          ['seconds in all', formatCell(seconds.total)],
          ['agent', formatCell(seconds.agent)],
          ['waiting for models', formatCell(seconds.model)],
          ['set-up', formatCell(seconds.setup)],
          ['evaluation', formatCell(seconds.evaluation)],
          ['tokens in', counted(tokens?.input)],
          ['of these cached', counted(tokens?.cachedInput)],
          ['tokens out', counted(tokens?.output)],
          ['tokens in by the agent', counted(agentTokens?.input)],
          ['tokens out by the agent', counted(agentTokens?.output)],
          ['US dollars', cost === null ? null : formatCell(cost)],
        ]}
      />
    </section>
  );
}

const gateWords = (passed: boolean | null): string =>
  passed === null ? 'not run' : passed ? 'clean' : 'violated';

function Integrity({ result, local }: { readonly result: RunResult; readonly local: LocalRun | undefined }) {
  const { integrity, sandbox, dataUse } = result;
  return (
    <section aria-labelledby="integrity">
      <h2 id="integrity">May it be published?</h2>
      {result.reasons.length === 0 ? (
        <p>Yes: every gate was passed.</p>
      ) : (
        <>
          <p>No:</p>
          <ul>
            {result.reasons.map((reason) => (
              <li key={reason}>
                <Text value={reason} />
              </li>
            ))}
          </ul>
        </>
      )}
      <Facts
        facts={[
          ['canaries', gateWords(integrity.canaries)],
          ['contamination lint', gateWords(integrity.lint)],
          ['egress', gateWords(integrity.egress)],
          ['hosted tools removed', integrity.hostedTools.join(', ')],
          ['hosted tools used', (integrity.hostedToolCalls ?? []).join(', ')],
          ['sandbox', sandbox.kind],
          ['root file system', sandbox.rootfsDigest ?? "the host's own"],
          ['limits enforced', sandbox.limits.enforced.join(', ')],
          ['data sent to', dataUse.provider],
        ]}
      />
      {local === undefined ? null : <Gates local={local} />}
    </section>
  );
}

function Gates({ local: { canaries, lint } }: { readonly local: LocalRun }) {
  return (
    <>
      {canaries === undefined ? null : (
        <details>
          <summary>
            {canaries.checks.length} canaries and {canaries.controls.length} controls
          </summary>
          <ul>
            {[...canaries.checks, ...canaries.controls].map(({ name, held, detail }) => (
              <li key={name}>
                <Badge kind={held ? 'good' : 'bad'}>{held ? 'held' : 'broken'}</Badge>{' '}
                <Text value={`${name}: ${detail}`} />
              </li>
            ))}
          </ul>
        </details>
      )}
      {lint === undefined ? null : (
        <details open={lint.findings.some(({ severity }) => severity === 'violation')}>
          <summary>{lint.findings.length} findings of the contamination lint</summary>
          <ul>
            {lint.findings.map(({ code, severity, where, detail }, index) => (
              <li key={index}>
                <Badge kind={severity === 'violation' ? 'bad' : 'plain'}>{severity}</Badge>{' '}
                <Text value={`${code}, ${where}: ${detail}`} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function Attempts({ site, result }: { readonly site: Site; readonly result: RunResult }) {
  return (
    <section aria-labelledby="attempts">
      <h2 id="attempts">Attempts</h2>
      <Scroll label="Attempts">
        <table data-table="attempts">
          <thead>
            <tr>
              <th scope="col">Attempt</th>
              <th scope="col">Class</th>
              <th scope="col">Reason</th>
              <th scope="col">Started</th>
              <th scope="col" class="number">
                Seconds
              </th>
            </tr>
          </thead>
          <tbody>
            {result.attempts.map(({ n, class: kind, reason, startedAt, seconds }) => {
              const base = site.attempt(result.runId, n);
              return (
                <tr key={n}>
                  <th scope="row">{base === undefined ? n : <a href={`${base}/transcript`}>{n}</a>}</th>
                  <td>
                    {kind}
                    {n === result.attempt ? ' (counts)' : ''}
                  </td>
                  <td>
                    <Text value={reason ?? ''} />
                  </td>
                  <td>
                    <Text value={timeText(startedAt, site.kind)} />
                  </td>
                  <td class="number">{formatCell(seconds)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

function Files({
  site,
  result,
  local,
}: {
  readonly site: Site;
  readonly result: RunResult;
  readonly local: LocalRun;
}) {
  const base = site.attempt(result.runId, local.n)!;
  return (
    <section aria-labelledby="files">
      <h2 id="files">Files of attempt {local.n}</h2>
      <p class="hint">
        <Text value={local.folder} />
      </p>
      <ul class="files">
        {local.files.map(({ path, bytes }) => (
          <li key={path}>
            <a href={`${base}/files/${path.split('/').map(encodeURIComponent).join('/')}`}>
              <Text value={path} />
            </a>{' '}
            <span class="hint">{formatBytes(bytes)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Hashes({ result }: { readonly result: RunResult }) {
  const { attempts: _attempts, ...hashes } = result.hashes;
  return (
    <details class="hashes">
      <summary>Hashes (SHA-256)</summary>
      <Facts
        facts={[
          ...Object.entries(hashes).map(
            ([name, hash]) => [name, hash === null ? null : <code key={name}>{hash}</code>] as const,
          ),
          ['dataset', <code key="dataset">{result.dataset.contentHash}</code>],
        ]}
      />
    </details>
  );
}

/** A run that was begun and has not ended: what there is of it so far. */
export function openRunHtml(
  campaign: string,
  site: Site,
  runId: string,
  attempts: readonly number[],
): string {
  return pageHtml({
    title: runId,
    site,
    campaign,
    place: 'runs',
    trail: [{ text: 'Runs', href: site.runs }],
    children: (
      <>
        <h1>{runId}</h1>
        <p>
          <Badge kind="plain">not ended</Badge> This run was begun and has no result yet.
        </p>
        <ul>
          {attempts.map((n) => (
            <li key={n}>
              <a href={`${site.attempt(runId, n)}/transcript`}>Transcript of attempt {n} so far</a>
            </li>
          ))}
        </ul>
      </>
    ),
  });
}
