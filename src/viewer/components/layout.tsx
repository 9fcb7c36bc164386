import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { Site } from '../site.js';
import { visibleText } from '../visible-text.js';
import { Text } from './text.js';

export type Place = 'overview' | 'runs' | 'tasks' | 'tables';

export interface PageProps {
  readonly title: string;
  readonly site: Site;
  /** Name of the campaign; undefined on the list of campaigns. */
  readonly campaign?: string;
  readonly place?: Place;
  /** Steps from the campaign to this page, without this page. */
  readonly trail?: readonly { readonly text: string; readonly href: string }[];
  readonly children: ComponentChildren;
}

const places: readonly (readonly [Place, string])[] = [
  ['overview', 'Overview'],
  ['runs', 'Runs'],
  ['tasks', 'Tasks'],
  ['tables', 'Tables and figures'],
];

/** A report says itself what may be loaded; the viewer's server says it in a header. */
const reportPolicy =
  "default-src 'none'; script-src 'self' file:; style-src 'self' file:; font-src 'self' data:; img-src 'self' data:; base-uri 'none'; form-action 'none'";

function Page({ title, site, campaign, place, trail = [], children }: PageProps) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        {site.kind === 'report' ? <meta http-equiv="Content-Security-Policy" content={reportPolicy} /> : null}
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <title>{visibleText(`${title} – m4bench`)}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={site.asset('viewer.css')} />
        <script src={site.asset('viewer.js')} defer />
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header class="top">
          <nav aria-label="Where you are" class="trail">
            <ol>
              <li>{site.home === undefined ? <b>m4bench</b> : <a href={site.home}>m4bench</a>}</li>
              {campaign === undefined ? null : (
                <li>
                  <a href={site.overview}>
                    <Text value={campaign} />
                  </a>
                </li>
              )}
              {trail.map(({ text, href }) => (
                <li key={href}>
                  <a href={href}>
                    <Text value={text} />
                  </a>
                </li>
              ))}
            </ol>
          </nav>
          {campaign === undefined ? null : (
            <nav aria-label="Campaign" class="tabs">
              {places.map(([name, text]) => (
                <a key={name} href={site[name]} aria-current={name === place ? 'page' : undefined}>
                  {text}
                </a>
              ))}
            </nav>
          )}
        </header>
        <main id="main">{children}</main>
      </body>
    </html>
  );
}

/** A whole page as HTML text. */
export function pageHtml(props: PageProps): string {
  return `<!doctype html>\n${renderToString(<Page {...props} />)}\n`;
}

export interface StandaloneProps {
  readonly title: string;
  /** Style sheet, without what would be loaded. */
  readonly style: string;
  readonly children: ComponentChildren;
}

/** One file that is a whole page: no script, nothing loaded. */
export function standaloneHtml({ title, style, children }: StandaloneProps): string {
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{visibleText(title)}</title>
        {/* Our own style sheet; in a style element only `<` could end it. */}
        <style dangerouslySetInnerHTML={{ __html: style.replaceAll('<', '\\3c ') }} />
      </head>
      <body>
        <main id="main">{children}</main>
      </body>
    </html>
  );
  return `<!doctype html>\n${renderToString(page)}\n`;
}
