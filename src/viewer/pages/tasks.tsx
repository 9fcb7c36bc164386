import { failingColumnTable } from '../../analysis/failing-columns.js';
import type { ValidityCaveat } from '../../analysis/published-documents.js';
import { cellTable } from '../../analysis/run-tables.js';
import { formatCell, withoutDull } from '../../analysis/tables.js';
import type { Task } from '../../tasks/task.js';
import { type CampaignView, taskNames } from '../campaign-view.js';
import { Facts } from '../components/bits.js';
import { GridIsland } from '../components/island.js';
import { pageHtml } from '../components/layout.js';
import { RewardStrips } from '../components/reward-strips.js';
import { Scroll } from '../components/scroll.js';
import { TextBlock } from '../components/text.js';
import { gridOfTable, runGrid } from '../grids.js';
import type { Site } from '../site.js';

/** The tasks of a campaign. */
export function tasksHtml(view: CampaignView, site: Site): string {
  const names = taskNames(view);
  return pageHtml({
    title: `Tasks of ${view.name}`,
    site,
    campaign: view.name,
    place: 'tasks',
    children: (
      <>
        <h1>Tasks</h1>
        <GridIsland
          name="tasks"
          caption="Tasks"
          columns={[
            { header: 'Task' },
            { header: 'Title' },
            { header: 'Family', hasChoices: true },
            { header: 'Mode', hasChoices: true },
            { header: 'Database', hasChoices: true },
            { header: 'Runs', isNumeric: true },
          ]}
          rows={names.map((name) => {
            const task = view.tasks.get(name);
            const runs = view.rows.filter((row) => row.task === name).length;
            return [
              [name, name, site.task(name)],
              task?.title ?? '',
              task?.familyTitle ?? '',
              task?.mode ?? '',
              task?.database ?? '',
              [String(runs), runs],
            ];
          })}
        />
      </>
    ),
  });
}

export interface TaskPageProps {
  readonly view: CampaignView;
  readonly site: Site;
  readonly name: string;
  /** Of the task's family; undefined where it states none. */
  readonly caveat: ValidityCaveat | undefined;
  /** Pairs of conditions whose runs can be laid side by side. */
  readonly pairs: readonly { readonly text: string; readonly href: string }[];
}

/** One task: what is asked, how it is judged, what is known to be disputable, and how the runs did. */
export function taskHtml({ view, site, name, caveat, pairs }: TaskPageProps): string {
  const task = view.tasks.get(name);
  const rows = view.rows.filter((row) => row.task === name);
  const columns = failingColumnTable(rows);
  return pageHtml({
    title: name,
    site,
    campaign: view.name,
    place: 'tasks',
    trail: [{ text: 'Tasks', href: site.tasks }],
    children: (
      <>
        <h1>{name}</h1>
        {task === undefined ? (
          <p>This task is not among those that m4bench knows here; give its folder with --tasks.</p>
        ) : (
          <>
            <p class="lead">{task.title}</p>
            <TaskFacts task={task} />
          </>
        )}
        <section aria-labelledby="rewards">
          <h2 id="rewards">Rewards</h2>
          {rows.length === 0 ? (
            <p>No run of this task has ended yet.</p>
          ) : (
            <>
              <RewardStrips rows={rows} title={`Reward of the runs of ${name}`} />
              <GridIsland {...gridOfTable('cells', withoutDull(cellTable(rows), dull), `Cells of ${name}`)} />
            </>
          )}
          {pairs.length === 0 ? null : (
            <p>
              What one arm was given and the other was not:{' '}
              {pairs.map(({ text, href }, index) => (
                <>
                  {index === 0 ? '' : ' · '}
                  <a href={href}>{text}</a>
                </>
              ))}
            </p>
          )}
        </section>
        {columns === undefined ? null : (
          <section aria-labelledby="failing">
            <h2 id="failing">Columns, and how they fail</h2>
            <GridIsland {...gridOfTable('columns', withoutDull(columns, dull), `Columns of ${name}`)} />
          </section>
        )}
        {task === undefined ? null : <Asked task={task} caveat={caveat} />}
        {rows.length === 0 ? null : (
          <section aria-labelledby="runs">
            <h2 id="runs">Runs</h2>
            <GridIsland
              {...runGrid(rows, site, { name: 'task-runs', caption: `Runs of ${name}`, isOneTask: true })}
            />
          </section>
        )}
      </>
    ),
  });
}

/** Said once, above. */
const dull = ['task', 'schema', 'unjudged'];

function TaskFacts({ task }: { readonly task: Task }) {
  return (
    <Facts
      facts={[
        ['family', task.familyTitle],
        ['kind', task.kind],
        ['mode', task.mode],
        ['database', task.database],
        ['difficulty', task.difficulty],
        ['one row is', task.grain],
        ['skills', task.skills.map(({ name }) => name).join(', ')],
        ['removed from the database', task.removesPublished.join(', ')],
      ]}
    />
  );
}

function Asked({ task, caveat }: { readonly task: Task; readonly caveat: ValidityCaveat | undefined }) {
  const { contract } = task;
  const role = (column: string): string =>
    [
      contract.keyColumns.includes(column) ? 'key' : null,
      contract.valueColumns.includes(column) ? 'value' : null,
      contract.scoredColumns.includes(column) ? 'scored' : null,
    ]
      .filter((word) => word !== null)
      .join(', ');
  return (
    <>
      <section aria-labelledby="instruction">
        <h2 id="instruction">Instruction</h2>
        <TextBlock value={task.instruction} />
      </section>
      <section aria-labelledby="contract">
        <h2 id="contract">Contract</h2>
        <p>
          At least {formatCell(contract.rowCoverageThreshold)} of the reference's keys, and every scored
          column right in at least {formatCell(contract.accuracyThreshold)} of the rows, for a strict pass.
          The reward is the mean match rate of the scored columns.
        </p>
        <Scroll label="Contract">
          <table>
            <thead>
              <tr>
                <th scope="col">Column</th>
                <th scope="col">Role</th>
                <th scope="col" class="number">
                  Tolerance
                </th>
              </tr>
            </thead>
            <tbody>
              {contract.requiredColumns.map((column) => (
                <tr key={column}>
                  <th scope="row">
                    <code>{column}</code>
                  </th>
                  <td>{role(column)}</td>
                  <td class="number">{contract.tolerance[column] ?? 0}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      </section>
      {caveat === undefined ? null : (
        <section aria-labelledby="caveats">
          <h2 id="caveats">Conventions and caveats</h2>
          {caveat.convention === '' ? null : (
            <p>
              <b>Kept on purpose.</b> {caveat.convention}
            </p>
          )}
          {caveat.caveat === '' ? null : (
            <p>
              <b>Caveat.</b> {caveat.caveat}
            </p>
          )}
        </section>
      )}
    </>
  );
}
