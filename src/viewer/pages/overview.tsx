import type { ComponentChildren } from 'preact';
import { formatEstimate, formatFixed } from '../../analysis/number-format.js';
import { formatCell, type Table, withoutDull } from '../../analysis/tables.js';
import type { CampaignView } from '../campaign-view.js';
import { Facts, Notices } from '../components/bits.js';
import type { GridProps } from '../components/grid.js';
import { GridIsland } from '../components/island.js';
import { pageHtml } from '../components/layout.js';
import { gridOfTable, runGrid } from '../grids.js';
import type { Site } from '../site.js';

export interface OverviewProps {
  readonly view: CampaignView;
  readonly site: Site;
  /** State and first numbers: fixed in a report, followed in the viewer. */
  readonly live: (of: LivePartName) => ComponentChildren;
  /** The figures, or the place they are fetched to. */
  readonly figures: ComponentChildren;
}

/** The first page of a campaign. */
export function overviewHtml({ view, site, live, figures }: OverviewProps): string {
  return pageHtml({
    title: view.name,
    site,
    campaign: view.name,
    place: 'overview',
    children: (
      <>
        <h1>{view.name}</h1>
        <p class="lead">{inShort(view)}</p>
        {live('top')}
        {figures}
        {live('tables')}
        <section aria-labelledby="plan">
          <h2 id="plan">Plan</h2>
          <CampaignFacts view={view} />
        </section>
      </>
    ),
  });
}

type AskedCell = CampaignView['results'][number]['cell'];

const cellsOf = (view: CampaignView): readonly AskedCell[] =>
  view.plan?.cells ?? view.results.map(({ cell }) => cell);

/** The values of one part of the cells, each once. */
const several = (cells: readonly AskedCell[], pick: (cell: AskedCell) => string | null): string =>
  [...new Set(cells.map((cell) => pick(cell) ?? 'default'))].sort().join(', ');

/** Who was asked what on which data, in a line. */
function inShort(view: CampaignView): string {
  const cells = cellsOf(view);
  const tasks = new Set(cells.map(({ task }) => task)).size;
  return [
    several(cells, ({ agent }) => agent),
    several(cells, ({ model }) => model ?? 'default model'),
    `${tasks} ${tasks === 1 ? 'task' : 'tasks'} on ${several(cells, ({ dataset }) => dataset)}`,
    several(cells, ({ condition }) => condition),
  ].join(' · ');
}

function CampaignFacts({ view }: { readonly view: CampaignView }) {
  const cells = cellsOf(view);
  const all = (pick: (cell: AskedCell) => string | null): string => several(cells, pick);
  return (
    <Facts
      facts={[
        ['agent', all(({ agent, cliVersion }) => (cliVersion === null ? agent : `${agent} ${cliVersion}`))],
        ['model', all(({ model }) => model)],
        ['effort', all(({ effort }) => effort)],
        ['dataset', all(({ dataset }) => dataset)],
        ['conditions', all(({ condition }) => condition)],
        ['schema', all(({ schema }) => schema)],
        ['protocol', all(({ protocol }) => protocol)],
        ['sandbox', view.plan?.sandbox ?? null],
        ['time limit', view.plan === undefined ? null : `${view.plan.timeoutSeconds} s`],
        ['plan', view.plan?.planHash.slice(0, 16) ?? null],
        ['benchmark', view.plan?.benchmarkVersion ?? null],
      ]}
    />
  );
}

/** Parts of the page that change while a campaign runs. */
export type LivePartName = 'top' | 'tables';

export interface LiveProps {
  readonly view: CampaignView;
  readonly site: Site;
  readonly running: readonly string[];
  readonly of: LivePartName;
}

/** Progress, notices and the headline, or the first tables. */
export function LivePart({ view, site, running, of }: LiveProps) {
  const { glance } = view;
  if (of === 'tables') {
    if (glance === undefined) return null;
    return (
      <>
        <LowestRuns view={view} site={site} />
        <section aria-labelledby="by-task">
          <h2 id="by-task">Reward by task and condition</h2>
          <GridIsland {...linkedTasks(rewardGrid(glance.tables['reward-by-task-and-condition']!), site)} />
        </section>
      </>
    );
  }
  return (
    <>
      <Progress view={view} site={site} running={running} />
      {glance === undefined ? (
        <p>No run has ended yet.</p>
      ) : (
        <>
          <Notices notices={glance.notices} />
          <Headline table={glance.tables['skill-effect']!} />
        </>
      )}
    </>
  );
}

const identity = ['model', 'schema', 'agent', 'effort', 'protocol', 'dataset', 'unjudged'];

const rewardGrid = (table: Table): GridProps =>
  gridOfTable('reward-by-task-and-condition', withoutDull(table, identity), 'Reward by task and condition');

/** The first column names a task: it leads to its page. */
function linkedTasks(grid: GridProps, site: Site): GridProps {
  return {
    ...grid,
    rows: grid.rows.map(([first, ...rest]) => {
      const task = typeof first === 'string' ? first : first![0];
      return [[task, task, site.task(task)] as const, ...rest];
    }),
  };
}

function Progress({
  view,
  site,
  running,
}: {
  readonly view: CampaignView;
  readonly site: Site;
  readonly running: readonly string[];
}) {
  const planned = view.plan?.runs.length ?? view.results.length;
  const finished = view.results.length;
  const unjudged = view.results.filter(({ status }) => status === 'unjudged').length;
  const failed = view.results.filter(({ failureClass }) => failureClass === 'agent').length;
  return (
    <section class="progress" aria-labelledby="progress">
      <h2 id="progress" class="unshown">
        Progress
      </h2>
      <progress max={planned} value={finished} aria-label="Runs that have ended" />
      <p aria-live="polite">
        <b data-number="finished">{finished}</b> of <b data-number="planned">{planned}</b> runs ended
        {finished === planned ? '' : `, ${planned - finished} to go`}.{' '}
        <a href={`${site.runs}?filter=unjudged`}>{unjudged} unjudged</a>,{' '}
        <a href={`${site.runs}?filter=agent+failed`}>{failed} ended by a fault of the agent</a>.
      </p>
      {running.length === 0 || site.kind === 'report' ? null : (
        <details id="running">
          <summary>{running.length} begun and not ended</summary>
          <ul>
            {running.slice(0, 50).map((runId) => (
              <li key={runId}>
                <a href={site.run(runId)}>{runId}</a>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

/** The effect of skills in figures that can be read across a room. */
function Headline({ table }: { readonly table: Table }) {
  if (table.rows.length === 0) return null;
  const number = (value: unknown): number | null => (typeof value === 'number' ? value : null);
  return (
    <section aria-labelledby="headline">
      <h2 id="headline">Effect of skills</h2>
      <div class="cards" data-table="skill-effect">
        {table.rows.map((row, index) => (
          <article key={index} class="card">
            <p class="big">{formatEstimate(number(row.delta), number(row.low), number(row.high))}</p>
            <p>
              reward with skill <b>{formatFixed(number(row.withSkill))}</b> against{' '}
              <b>{formatFixed(number(row.noSkill))}</b> without, mean over {formatCell(row.tasks)} tasks;
              better on {formatCell(row.positiveTasks)}
            </p>
            <p class="hint">
              {['agent', 'effort', 'protocol', 'dataset', 'schema']
                .map((name) => formatCell(row[name]))
                .join(' · ')}{' '}
              · 95 % bootstrap interval over tasks
            </p>
          </article>
        ))}
      </div>
    </section>
  );
}

const listed = 10;

function LowestRuns({ view, site }: { readonly view: CampaignView; readonly site: Site }) {
  const rows = view.rows
    .filter((row) => row.reward !== null && row.reward < 1)
    .sort((a, b) => a.reward! - b.reward! || (a.runId < b.runId ? -1 : 1))
    .slice(0, listed);
  if (rows.length === 0) return null;
  const { compare: _compare, ...grid } = runGrid(rows, site, {
    name: 'lowest-runs',
    caption: 'Runs with the lowest rewards',
  });
  return (
    <section aria-labelledby="lowest">
      <h2 id="lowest">Look here first: the lowest rewards</h2>
      <GridIsland {...grid} />
    </section>
  );
}
