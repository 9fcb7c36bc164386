import type { CampaignView } from '../campaign-view.js';
import { GridIsland } from '../components/island.js';
import { pageHtml } from '../components/layout.js';
import { runGrid } from '../grids.js';
import type { Site } from '../site.js';

/** Every run that has ended. */
export function runsHtml(view: CampaignView, site: Site): string {
  return pageHtml({
    title: `Runs of ${view.name}`,
    site,
    campaign: view.name,
    place: 'runs',
    children: (
      <>
        <h1>Runs</h1>
        {view.rows.length === 0 ? <p>No run has ended yet.</p> : <GridIsland {...runGrid(view.rows, site)} />}
      </>
    ),
  });
}
