/** Milliseconds between two looks at a part that changes. */
const interval = 2_000;

/**
 * Parts of a page that the server keeps current: `data-part` is their address. Each is fetched once the page is
 * there and put in place of what stood there; one with `data-live="running"` is looked at again until it says
 * otherwise. The server sends a part only when it changed.
 */
export function followLive(root: ParentNode, mount: (root: ParentNode) => void): void {
  for (const place of root.querySelectorAll<HTMLElement>('[data-part]')) void follow(place, mount);
}

async function follow(place: HTMLElement, mount: (root: ParentNode) => void): Promise<void> {
  const address = place.dataset.part!;
  let version = place.dataset.version ?? '';
  for (;;) {
    if (version !== '') await new Promise((done) => setTimeout(done, interval));
    const answer = await fetch(address, { headers: { 'if-none-match': `"${version}"` } }).catch(
      () => undefined,
    );
    if (answer === undefined || (!answer.ok && answer.status !== 304)) {
      place.dataset.live = 'lost';
      if (version === '') return;
      continue;
    }
    if (answer.status !== 304) {
      replace(place, await answer.text());
      version = answer.headers.get('etag')?.replaceAll('"', '') ?? 'once';
      mount(place);
    }
    place.dataset.live = answer.headers.get('m4bench-live') ?? 'finished';
    if (place.dataset.live !== 'running') return;
  }
}

/** The server escapes all text in a part; its policy forbids scripts in it besides. */
function replace(place: HTMLElement, html: string): void {
  const part = new DOMParser().parseFromString(html, 'text/html').body;
  const opened = [...place.querySelectorAll('details[open][id]')].map(({ id }) => id);
  place.replaceChildren(...part.childNodes);
  for (const id of opened) place.querySelector(`details[id="${CSS.escape(id)}"]`)?.setAttribute('open', '');
}
