/** Reads a Markdown page: the anchors of its headings, its links, and its inline code. */

/** A piece of text and its line, from 1. */
export interface Found {
  readonly text: string;
  readonly line: number;
}

export interface MarkdownPage {
  /** Anchors of headings, as GitHub makes them: `limits-by-leases`; a repeated heading gets `-1`, `-2`. */
  readonly anchors: ReadonlySet<string>;
  /** Targets of links and images, as written. */
  readonly links: readonly Found[];
  /** Texts of inline code. */
  readonly code: readonly Found[];
}

const fence = /^\s*(```+|~~~+)/;
const heading = /^#{1,6}\s+(.+?)\s*#*$/;
const inlineCode = /(`+)(.+?)\1/g;
const link = /\]\(<?([^)<>\s]+)>?(?:\s+"[^"]*")?\)/g;
const reference = /^\s*\[[^\]]+\]:\s+(\S+)/;

/** Reads one page. Fenced code is skipped, because it is an example and not a citation. */
export function readMarkdown(text: string): MarkdownPage {
  const anchors = new Set<string>();
  const links: Found[] = [];
  const code: Found[] = [];
  let open: string | null = null;
  for (const [index, line] of text.split("\n").entries()) {
    const mark = fence.exec(line)?.[1] ?? null;
    if (mark !== null && (open === null || mark.startsWith(open))) {
      open = open === null ? mark : null;
      continue;
    }
    if (open !== null) continue;
    const title = heading.exec(line)?.[1];
    if (title !== undefined) anchors.add(unused(anchorOf(title), anchors));
    const place = index + 1;
    for (const [, , inside = ""] of line.matchAll(inlineCode)) code.push({ text: inside.trim(), line: place });
    const prose = line.replaceAll(inlineCode, (whole) => " ".repeat(whole.length));
    for (const [, target = ""] of prose.matchAll(link)) links.push({ text: target, line: place });
    const target = reference.exec(prose)?.[1];
    if (target !== undefined) links.push({ text: target, line: place });
  }
  return { anchors, links, code };
}

/** Lower case, punctuation removed, each space a hyphen. */
export function anchorOf(title: string): string {
  const plain = title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "");
  return plain
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}

/** @returns the anchor, with a number if it is already used. */
export function unused(anchor: string, used: ReadonlySet<string>): string {
  for (let number = 0; ; number++) {
    const candidate = number === 0 ? anchor : `${anchor}-${number}`;
    if (!used.has(candidate)) return candidate;
  }
}
