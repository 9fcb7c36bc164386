import { Grid, type GridProps } from './grid.js';

/**
 * A grid in a page: the first rows as HTML, and the data from which the browser's script goes on. In a script
 * element only `<` could end the data early.
 */
export function GridIsland(props: GridProps) {
  const data = JSON.stringify(props).replaceAll('<', '\\u003c');
  return (
    <div class="island">
      <div data-island="grid">
        <Grid {...props} />
      </div>
      {/* JSON, and nothing in it can end the element. */}
      <script type="application/json" dangerouslySetInnerHTML={{ __html: data }} />
    </div>
  );
}
