import type { ComponentChildren } from 'preact';

/** A region that scrolls sideways by itself, so that the page does not; it can be reached without a mouse. */
export function Scroll({
  label,
  kind = '',
  children,
}: {
  readonly label: string;
  readonly kind?: string;
  readonly children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable without a mouse
    <section class={`scroll ${kind}`} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
