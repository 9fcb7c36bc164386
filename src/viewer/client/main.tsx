import './viewer.css';
import { h, hydrate } from 'preact';
import { Grid, type GridProps } from '../components/grid.js';
import { listenToKeys } from './keys.js';
import { followLive } from './live.js';

/** Brings the grids below an element to life. */
export function mountGrids(root: ParentNode): void {
  for (const place of root.querySelectorAll<HTMLElement>('[data-island="grid"]')) {
    const data = place.nextElementSibling?.textContent;
    if (data) hydrate(h(Grid, JSON.parse(data) as GridProps), place);
  }
}

mountGrids(document);
followLive(document, mountGrids);
listenToKeys(document);
document.documentElement.dataset.ready = 'true';
