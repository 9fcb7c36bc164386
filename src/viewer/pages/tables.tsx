import type { ComponentChildren } from 'preact';
import type { Analysis } from '../../analysis/analyze.js';
import type { AnalysisDocument } from '../../analysis/write-analysis.js';
import type { CampaignView } from '../campaign-view.js';
import { GridIsland } from '../components/island.js';
import { pageHtml } from '../components/layout.js';
import { Text } from '../components/text.js';
import { gridOfTable } from '../grids.js';
import type { Site } from '../site.js';

export interface TablesProps {
  readonly view: CampaignView;
  readonly site: Site;
  readonly analysis: Analysis | undefined;
  readonly figures: ComponentChildren;
}

/** Tables that have a page of their own. */
const elsewhere = new Set(['runs']);

/** Everything that `analyze` makes of the runs. */
export function tablesHtml({ view, site, analysis, figures }: TablesProps): string {
  const tables = Object.entries(analysis?.tables ?? {}).filter(([name]) => !elsewhere.has(name));
  return pageHtml({
    title: `Tables and figures of ${view.name}`,
    site,
    campaign: view.name,
    place: 'tables',
    children: (
      <>
        <h1>Tables and figures</h1>
        {analysis === undefined ? (
          <p>No run has ended yet.</p>
        ) : (
          <>
            <p>
              {analysis.counts.runs} runs, {analysis.counts.unjudged} of them unjudged and in no mean;{' '}
              {analysis.settings.resamples.toLocaleString('en-US')} bootstrap resamples; rows{' '}
              <code>sha256 {analysis.dataHash.slice(0, 16)}</code>. The same tables as data:{' '}
              <code>m4bench analyze {view.name} --json</code>.
            </p>
            <nav aria-label="Tables" class="contents">
              {tables.map(([name]) => (
                <a key={name} href={`#${name}`}>
                  {name}
                </a>
              ))}
            </nav>
            {figures}
            {tables.map(([name, table]) => (
              <section key={name} aria-labelledby={name}>
                <h2 id={name}>{name}</h2>
                {table.title === undefined ? null : <p>{table.title}</p>}
                <GridIsland {...gridOfTable(name, table, name)} pageRows={60} />
                {table.notes === undefined ? null : (
                  <ul class="notes">
                    {table.notes.map((note) => (
                      <li key={note}>
                        <Text value={note} />
                      </li>
                    ))}
                  </ul>
                )}
              </section>
            ))}
            <Omitted omitted={analysis.omitted} />
          </>
        )}
      </>
    ),
  });
}

function Omitted({ omitted }: { readonly omitted: AnalysisDocument['omitted'] }) {
  const entries = Object.entries(omitted);
  if (entries.length === 0) return null;
  return (
    <details>
      <summary>{entries.length} tables and figures that these runs do not allow</summary>
      <ul>
        {entries.map(([name, reason]) => (
          <li key={name}>
            <code>{name}</code>: {reason}
          </li>
        ))}
      </ul>
    </details>
  );
}
