/** The fenced code blocks of the pages, which tests run, parse or read. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sitePages } from "./navigation.ts";

export interface CodeBlock {
  readonly page: string;
  /** Line of the fence, from 1. */
  readonly line: number;
  /** The first word after the fence: `sh`, `json`. */
  readonly language: string;
  /** The text after the language: `not-run: keeps the terminal`. */
  readonly info: string;
  readonly text: string;
}

const fence = /^( *)(`{3,})(\S*) *(.*)$/;

/** All blocks of all pages that are written by hand, in order. */
export function codeBlocks(root: string): CodeBlock[] {
  return sitePages(root)
    .filter((page) => !page.startsWith("docs/api/records/"))
    .flatMap((page) => blocksOf(page, readFileSync(join(root, page), "utf8")));
}

/** The blocks of one page, without the indentation of the fence. */
export function blocksOf(page: string, text: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { readonly line: number; readonly found: RegExpExecArray; readonly lines: string[] } | null = null;
  for (const [index, line] of text.split("\n").entries()) {
    const found = fence.exec(line);
    if (open === null) {
      if (found !== null) open = { line: index + 1, found, lines: [] };
    } else if (found !== null && found[2] === open.found[2] && found[3] === "") {
      blocks.push({ page, line: open.line, language: open.found[3] ?? "", info: open.found[4] ?? "", text: open.lines.join("\n") });
      open = null;
    } else {
      open.lines.push(line.slice(Math.min(open.found[1]?.length ?? 0, line.length - line.trimStart().length)));
    }
  }
  return blocks;
}
