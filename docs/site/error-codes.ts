import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** One place of the source that makes an error of a code. */
export interface ErrorSite {
  readonly code: string;
  /** Folder below `src/`. */
  readonly module: string;
  /** What happened, with `…` where a value stands. */
  readonly message: string;
  /** What to do, likewise; empty where another function words it. */
  readonly remedy: string;
}

const codePattern = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/;
/** Functions that word an error themselves and are told its code. */
const makers = new Set(['readTomlFile', 'readContentFile']);

/** Every `M4BenchError` of the source, found in its syntax tree. */
export function errorSites(source: string): readonly ErrorSite[] {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.(test|fixture)\.ts$|(^|\/)test-[^/]*\.ts$/.test(file))
    .sort();
  return files.flatMap((file) => {
    const text = readFileSync(join(source, file), 'utf8');
    const tree = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
    const sites: ErrorSite[] = [];
    const module = file.split('/')[0]!;
    const visit = (node: ts.Node): void => {
      if (ts.isNewExpression(node) && node.expression.getText(tree) === 'M4BenchError') {
        const [code, message, remedy] = node.arguments ?? [];
        for (const name of codesOf(code))
          sites.push({ code: name, module, message: textOf(message), remedy: textOf(remedy) });
      } else if (ts.isCallExpression(node) && makers.has(node.expression.getText(tree))) {
        for (const argument of node.arguments)
          for (const name of codesOf(argument))
            sites.push({
              code: name,
              module,
              message: '…: the file cannot be read, or a field of it is not valid.',
              remedy: '',
            });
      } else if (ts.isArrayLiteralExpression(node) && node.elements.length === 2) {
        // A code and its remedy, looked up by what went wrong.
        const [code, remedy] = node.elements;
        if (textOf(remedy).includes(' '))
          for (const name of codesOf(code))
            sites.push({ code: name, module, message: '', remedy: textOf(remedy) });
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
    return sites;
  });
}

/** The codes that an expression can be: a text, or either side of a choice between texts. */
function codesOf(node: ts.Expression | undefined): readonly string[] {
  if (node === undefined) return [];
  if (ts.isStringLiteralLike(node)) return codePattern.test(node.text) ? [node.text] : [];
  if (ts.isConditionalExpression(node)) return [...codesOf(node.whenTrue), ...codesOf(node.whenFalse)];
  return [];
}

/** A message with `…` in place of what is filled in. */
function textOf(node: ts.Expression | undefined): string {
  if (node === undefined) return '';
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map((span) => `…${span.literal.text}`).join('');
  if (ts.isConditionalExpression(node)) return textOf(node.whenTrue) || textOf(node.whenFalse);
  if (ts.isBinaryExpression(node)) {
    const left = textOf(node.left);
    return left === '' || left === '…' ? textOf(node.right) : left;
  }
  return '…';
}
