import { existsSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { navigation } from './navigation.mjs';
import { slugOf } from './slug.mjs';

const docs = dirname(dirname(fileURLToPath(import.meta.url)));

/** The documentation as static pages: no script, no request to anywhere, links that work from a folder on disk. */
export default function (config) {
  config.setQuietMode(true);
  config.addPassthroughCopy({
    'docs/site/style.css': 'style.css',
    'docs/images': 'images',
    examples: 'examples',
  });
  config.ignores.add('docs/site/**');
  config.setUseGitIgnore(false);
  config.addGlobalData('layout', 'page.njk');
  config.addGlobalData('permalink', () => (data) => `${data.page.filePathStem}.html`);
  config.addGlobalData('eleventyComputed', {
    title: (data) => titleOf(data.page.rawInput),
    top: (data) => '../'.repeat(data.page.filePathStem.split('/').length - 2) || './',
    groups: (data) =>
      navigation.map(([name, pages]) => ({
        name,
        pages: pages
          .filter(([path]) => existsSync(join(docs, `${path}.md`)))
          .map(([path, title]) => ({ path, title, isCurrent: data.page.filePathStem === `/${path}` })),
      })),
  });
  config.amendLibrary('md', (markdown) => {
    markdown.set({ html: true, linkify: false });
    anchorHeadings(markdown);
    rewriteLinks(markdown);
    wrapTables(markdown);
  });
  return {
    dir: { input: 'docs', includes: 'site/_includes', output: 'site' },
    markdownTemplateEngine: false,
    templateFormats: ['md'],
  };
}

function titleOf(markdown) {
  return (/^# (.+)$/m.exec(markdown ?? '')?.[1] ?? 'm4bench').replace(/`/g, '');
}

function anchorHeadings(markdown) {
  const used = (env) => {
    env.usedAnchors ??= new Map();
    return env.usedAnchors;
  };
  markdown.renderer.rules.heading_open = (tokens, index, options, env, self) => {
    const slug = slugOf(tokens[index + 1].children.map((child) => child.content).join(''));
    const count = used(env).get(slug) ?? 0;
    used(env).set(slug, count + 1);
    tokens[index].attrSet('id', count === 0 ? slug : `${slug}-${count}`);
    return self.renderToken(tokens, index, options);
  };
}

/** `page.md#part` becomes `page.html#part`; what lies outside of `docs/` and is no page becomes what the site has of it. */
function rewriteLinks(markdown) {
  const base =
    markdown.renderer.rules.link_open ??
    ((tokens, i, options, _env, self) => self.renderToken(tokens, i, options));
  markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const href = tokens[index].attrGet('href') ?? '';
    tokens[index].attrSet('href', siteLink(href, env.page?.filePathStem ?? '/index'));
    return base(tokens, index, options, env, self);
  };
}

const outside = new Map([
  ['ARCHITECTURE.md', 'generated/architecture.html'],
  ['CHANGELOG.md', 'generated/changelog.html'],
  ['README.md', 'index.html'],
  ['test/tasks/operational-spec-sql/README.md', 'generated/operational-spec-check.html'],
]);

function siteLink(href, stem) {
  if (/^[a-z]+:/.test(href) || href.startsWith('#')) return href;
  const [path, anchor] = href.split('#');
  // Generated pages are made of texts of the root folder.
  const isOfRoot = /^\/generated\/(architecture|changelog|operational-spec-check)$/.test(stem);
  const folder = isOfRoot ? '.' : posix.join('docs', posix.dirname(stem));
  const target = posix.join(folder, path);
  const onSite = target.startsWith('docs/') ? target.slice('docs/'.length) : (outside.get(target) ?? target);
  const relative = posix.relative(posix.dirname(stem), `/${onSite}`) || posix.basename(onSite);
  const suffix = anchor === undefined ? '' : `#${anchor}`;
  return `${relative.replace(/\.md$/, '.html')}${suffix}`;
}

function wrapTables(markdown) {
  markdown.renderer.rules.table_open = () => '<div class="wide"><table>\n';
  markdown.renderer.rules.table_close = () => '</table></div>\n';
}
