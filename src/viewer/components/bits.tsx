import type { ComponentChildren } from 'preact';
import { Scroll } from './scroll.js';
import { Text } from './text.js';

/** Facts as name and value; those without a value are left out. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }) {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return (
    <dl class="facts">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'string' ? <Text value={value} /> : value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A share of one as a bar. The number stands beside it, so the bar is left out for those who listen. */
export function Bar({ share, kind = 'good' }: { readonly share: number; readonly kind?: string }) {
  const width = Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10;
  return (
    <svg class={`bar ${kind}`} viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width="100" height="10" />
      <rect class="fill" width={width} height="10" />
    </svg>
  );
}

/** What a reader must know before the numbers. */
export function Notices({ notices }: { readonly notices: readonly string[] }) {
  if (notices.length === 0) return null;
  return (
    <ul class="notices" aria-label="Before the numbers">
      {notices.map((notice) => (
        <li key={notice}>
          <Text value={notice} />
        </li>
      ))}
    </ul>
  );
}

/** A state in a word, told by form and text and not by colour alone. */
export function Badge({
  kind,
  children,
}: {
  readonly kind: 'good' | 'bad' | 'plain' | 'warn';
  readonly children: string;
}) {
  return <span class={`badge ${kind}`}>{children}</span>;
}

/** A figure drawn by the analysis. The drawing is the server's own SVG; its text was escaped when it was drawn. */
export function Chart({
  name,
  title,
  description,
  svg,
}: {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly svg: string;
}) {
  return (
    <figure class="chart" data-figure={name}>
      <Scroll label={`${title}: drawing`} kind="paper">
        <div
          role="img"
          aria-label={`${title}. ${description}`}
          // Drawn by the analysis, which escapes every name in it.
          dangerouslySetInnerHTML={{ __html: svg }}
        />
      </Scroll>
      <figcaption>
        <b>{title}.</b> {description}
      </figcaption>
    </figure>
  );
}
