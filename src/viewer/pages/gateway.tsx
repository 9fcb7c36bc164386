import { Facts } from '../components/bits.js';
import type { GridCell } from '../components/grid.js';
import { GridIsland } from '../components/island.js';
import { pageHtml } from '../components/layout.js';
import type { GatewayLog } from '../gateway-log.js';
import type { Site } from '../site.js';
import { timeText } from '../time-text.js';
import { runTrail } from './transcript.js';

/** Everything that left or wanted to leave the sandbox: the gateway is the only way out. */
export function gatewayHtml(props: {
  readonly campaign: string;
  readonly site: Site;
  readonly runId: string;
  readonly attempt: number;
  readonly log: GatewayLog;
}): string {
  const { exchanges, unreadable, leftOut } = props.log;
  const number = (value: number | null | undefined): GridCell =>
    value === null || value === undefined ? ['–', null] : [String(value), value];
  return pageHtml({
    title: `Gateway log of ${props.runId}`,
    site: props.site,
    campaign: props.campaign,
    place: 'runs',
    trail: runTrail(props.site, props.runId),
    children: (
      <>
        <h1>
          Gateway and egress log <span class="thin">attempt {props.attempt}</span>
        </h1>
        <p>
          The gateway is the only way out of the sandbox, so this is everything that left it. Exchanges
          without a host were refused and went nowhere.
        </p>
        <Facts
          facts={[
            ['exchanges', String(exchanges.length + leftOut)],
            ['refused', String(exchanges.filter(({ refusal }) => refusal !== null).length)],
            ['failed', String(exchanges.filter(({ failure }) => failure !== null).length)],
            ['hosts', [...new Set(exchanges.flatMap(({ host }) => host ?? []))].join(', ')],
            ['unreadable lines', unreadable === 0 ? null : String(unreadable)],
            ['not shown', leftOut === 0 ? null : String(leftOut)],
          ]}
        />
        <GridIsland
          name="gateway"
          caption="Exchanges"
          columns={[
            { header: 'Time' },
            { header: 'Seconds', isNumeric: true },
            { header: 'Host', hasChoices: true },
            { header: 'Method', hasChoices: true },
            { header: 'Path' },
            { header: 'Model', hasChoices: true },
            { header: 'Status', isNumeric: true, hasChoices: true },
            { header: 'Refused or failed', hasChoices: true },
            { header: 'Bytes out', isNumeric: true },
            { header: 'Bytes in', isNumeric: true },
            { header: 'Tokens in', isNumeric: true },
            { header: 'Tokens out', isNumeric: true },
            { header: 'Skills opened' },
          ]}
          rows={exchanges.map((exchange) => [
            timeText(exchange.startedAt),
            number(exchange.seconds),
            exchange.host ?? '–',
            exchange.method,
            exchange.path,
            exchange.model ?? '–',
            number(exchange.status),
            exchange.refusal ?? exchange.failure ?? '–',
            number(exchange.requestBytes),
            number(exchange.responseBytes),
            number(exchange.tokens?.input),
            number(exchange.tokens?.output),
            exchange.skillsOpened.join(', '),
          ])}
        />
      </>
    ),
  });
}
