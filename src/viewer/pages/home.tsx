import type { CampaignListing } from '../campaign-store.js';
import { GridIsland } from '../components/island.js';
import { pageHtml } from '../components/layout.js';
import { Text } from '../components/text.js';
import { viewSite } from '../site.js';
import { timeText } from '../time-text.js';

/** The campaigns of a home folder. */
export function homeHtml(folder: string, campaigns: readonly CampaignListing[]): string {
  return pageHtml({
    title: 'Campaigns',
    site: viewSite(''),
    children: (
      <>
        <h1>Campaigns</h1>
        <p class="hint">
          <Text value={folder} />
        </p>
        {campaigns.length === 0 ? (
          <p>
            There is none yet. Start with <code>m4bench quickstart</code>.
          </p>
        ) : (
          <GridIsland
            name="campaigns"
            caption="Campaigns"
            columns={[
              { header: 'Campaign' },
              { header: 'Runs ended', isNumeric: true },
              { header: 'Planned', isNumeric: true },
              { header: 'State', hasChoices: true },
              { header: 'Last change' },
            ]}
            rows={campaigns.map((campaign) => [
              [campaign.name, campaign.name, viewSite(campaign.name).overview],
              [String(campaign.finished), campaign.finished],
              campaign.planned === null ? ['–', null] : [String(campaign.planned), campaign.planned],
              campaign.problem ?? stateOf(campaign),
              campaign.changedAt === null ? '–' : timeText(campaign.changedAt),
            ])}
          />
        )}
      </>
    ),
  });
}

function stateOf({ planned, finished }: CampaignListing): string {
  if (planned === null) return 'single runs';
  return finished >= planned ? 'complete' : 'open';
}

/** Something that is not there, or went wrong, in one sentence and what to do. */
export function problemHtml(message: string, remedy: string): string {
  return pageHtml({
    title: 'Not shown',
    site: viewSite(''),
    children: (
      <>
        <h1>Not shown</h1>
        <p>
          <Text value={message} />
        </p>
        <p>
          <Text value={remedy} />
        </p>
      </>
    ),
  });
}
