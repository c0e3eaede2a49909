/** Renders a Markdown page as HTML without scripts and styles, and extracts the sections for the search index. */

import { createRequire } from "node:module";
import MarkdownIt from "markdown-it";
import { anchorOf, unused } from "../citations/markdown.ts";

/** The text from one heading to the next. */
export interface Section {
  /** Empty for the text before the first heading. */
  readonly anchor: string;
  readonly title: string;
  readonly level: number;
  readonly text: string;
}

export interface PageHtml {
  readonly html: string;
  readonly sections: readonly Section[];
}

const require = createRequire(import.meta.url);
/** The used part of highlight.js, whose own types include all types of browsers. */
const highlighter: {
  registerLanguage(name: string, language: unknown): void;
  highlight(text: string, options: { readonly language: string }): { readonly value: string };
} = require("highlight.js/lib/core");
for (const name of ["bash", "http", "javascript", "json", "typescript", "yaml"])
  highlighter.registerLanguage(name, require(`highlight.js/lib/languages/${name}`));
const languages: Readonly<Record<string, string>> = {
  sh: "bash",
  bash: "bash",
  js: "javascript",
  ts: "typescript",
  json: "json",
  yaml: "yaml",
  http: "http",
};

const markdown = new MarkdownIt({
  html: false,
  highlight(text, language) {
    const name = languages[language];
    return name === undefined ? "" : highlighter.highlight(text, { language: name }).value;
  },
});

// Elements that can be wider than the page scroll separately, also with the keyboard.
const rules = markdown.renderer.rules;
rules.table_open = () => '<div class="wide" tabindex="0"><table>\n';
rules.table_close = () => "</table></div>\n";
const plainFence = rules.fence;
rules.fence = (tokens, index, options, env, self) =>
  (plainFence?.(tokens, index, options, env, self) ?? "").replace("<pre>", '<pre tabindex="0">');

/** Comments, which are for editors of the file and are not rendered. */
const comment = /^<!--[\s\S]*?-->\n?/gm;

/**
 * @param link  returns the target on the site for a link or an image of the page; null: there is none, and only the text is rendered.
 */
export function pageHtml(text: string, link: (href: string) => string | null): PageHtml {
  const tokens = markdown.parse(text.replaceAll(comment, ""), {});
  const used = new Set<string>();
  const sections: { anchor: string; title: string; level: number; text: string[] }[] = [{ anchor: "", title: "", level: 1, text: [] }];
  for (const [index, token] of tokens.entries()) {
    if (token.type === "heading_open") {
      const source = tokens[index + 1];
      const anchor = unused(anchorOf(source?.content ?? ""), used);
      used.add(anchor);
      token.attrSet("id", anchor);
      sections.push({ anchor, title: plainText(source), level: Number(token.tag.slice(1)), text: [] });
    } else if (token.type === "inline") {
      setLinks(token, link);
      if (tokens[index - 1]?.type !== "heading_open") sections.at(-1)?.text.push(plainText(token));
    } else if (token.type === "th_open" || token.type === "td_open") {
      setAlignment(token);
    } else if (token.type === "fence") sections.at(-1)?.text.push(token.content);
  }
  return {
    html: markdown.renderer.render(tokens, markdown.options, {}),
    sections: sections.map((section) => ({ ...section, text: section.text.join("\n") })),
  };
}

type Token = ReturnType<typeof markdown.parse>[number];

function plainText(token: Token | undefined): string {
  return (token?.children ?? []).map(({ content }) => content).join("");
}

/** Aligns a cell with a class, because the site's policy forbids style attributes. */
function setAlignment(token: Token): void {
  const alignment = /right|center/.exec(String(token.attrGet("style") ?? ""))?.[0];
  token.attrs = alignment === undefined ? null : [["class", alignment]];
}

function setLinks({ children }: Token, link: (href: string) => string | null): void {
  const open: boolean[] = [];
  for (const token of children ?? []) {
    if (token.type === "image") {
      token.attrSet("src", link(String(token.attrGet("src") ?? "")) ?? "");
      token.attrSet("loading", "lazy");
    } else if (token.type === "link_open") {
      const target = link(String(token.attrGet("href") ?? ""));
      open.push(target !== null);
      if (target === null) hide(token);
      else token.attrSet("href", target);
    } else if (token.type === "link_close" && open.pop() === false) hide(token);
  }
}

/** Renders nothing. */
function hide(token: Token): void {
  token.type = "text";
  token.content = "";
}
