/**
 * Keys beside those of the browser: `/` to the filter or search field, `j` and `k` through the turns of a transcript,
 * `e` to open or close all folds. Not while something is typed.
 */
export function listenToKeys(root: Document): void {
  root.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement | null;
    if (event.ctrlKey || event.metaKey || event.altKey || target?.closest('input, textarea, select')) return;
    if (event.key === '/') {
      const field = root.querySelector<HTMLInputElement>('[data-filter]');
      if (field === null) return;
      event.preventDefault();
      field.focus();
      field.select();
    } else if (event.key === 'j' || event.key === 'k') {
      step(root, event.key === 'j' ? 1 : -1);
    } else if (event.key === 'e') {
      toggleFolds(root);
    }
  });
  root.querySelector('[data-fold-all]')?.addEventListener('click', () => toggleFolds(root));
}

function step(root: Document, by: number): void {
  const turns = [...root.querySelectorAll<HTMLElement>('[data-turn]')];
  const current = turns.indexOf(root.activeElement?.closest<HTMLElement>('[data-turn]') ?? turns[0]!);
  const isInside = root.activeElement?.closest('[data-turn]') != null;
  const next = turns[isInside ? Math.min(Math.max(current + by, 0), turns.length - 1) : 0];
  next?.focus();
}

function toggleFolds(root: Document): void {
  const folds = [...root.querySelectorAll<HTMLDetailsElement>('[data-turn] details')];
  const shallOpen = folds.some((fold) => !fold.open);
  for (const fold of folds) fold.open = shallOpen;
}
