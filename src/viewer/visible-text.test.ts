import fc from 'fast-check';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { Text } from './components/text.js';
import { textSegments, visibleText } from './visible-text.js';

describe('text of agents', () => {
  it('stays as it is where everything in it can be seen', () => {
    expect(textSegments('select 1;\n\tfrom äöü 患者 עברית 🙂')).toEqual([
      { text: 'select 1;\n\tfrom äöü 患者 עברית 🙂' },
    ]);
    expect(textSegments('a\r\nb')).toEqual([{ text: 'a\nb' }]);
  });

  it('shows terminal escapes, marks that turn the reading direction and zero-width characters', () => {
    expect(visibleText('\u001b[31mred')).toBe('⟨U+001B escape⟩[31mred');
    expect(visibleText('user\u202etxt.exe')).toBe('user⟨U+202E right-to-left override⟩txt.exe');
    expect(visibleText('a\u200bb\u2066c\u2069\ufeff')).toBe(
      'a⟨U+200B zero-width space⟩b⟨U+2066 left-to-right isolate⟩c⟨U+2069 end of isolate⟩⟨U+FEFF byte order mark⟩',
    );
    expect(visibleText('\ud800')).toBe('⟨U+D800⟩');
    expect(visibleText('a\rb\u2028c')).toBe('a⟨U+000D carriage return⟩b⟨U+2028⟩c');
    expect(textSegments('\u0000')).toEqual([{ text: '␀', mark: 'U+0000 null' }]);
  });

  it('is never markup, and loses nothing that can be seen', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const html = renderToString(h(Text, { value: text }));
        // Only the marks that the viewer itself puts in are elements.
        const withoutMarks = html.replace(/<span class="unseen" title="[^"<>&]*">[^<>&]*<\/span>/g, '');
        expect(withoutMarks).not.toMatch(/[<>]/);
        expect(withoutMarks).not.toMatch(/[\p{Cf}\p{Zl}\p{Zp}]|[^\P{Cc}\n\t]/u);
      }),
    );
    expect(renderToString(h(Text, { value: '<img src=x onerror=alert(1)>&"' }))).toBe(
      '&lt;img src=x onerror=alert(1)>&amp;&quot;',
    );
  });
});
