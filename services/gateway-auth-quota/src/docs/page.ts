/** The frame of our own pages: plain HTML that works without scripts. */

import { inlineStylePolicy } from "../edge/page-policies.ts";
import type { StaticFile } from "./static-file.ts";

/** Our own text, or a code, escaped for HTML; text in `backticks` becomes code. */
export function inline(text: string): string {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
  return escaped.replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

/** @param main  HTML. */
export function page(title: string, main: string): StaticFile {
  return htmlDocument(
    `${title} · Netfacts`,
    "/docs/page.css",
    `<nav><a href="/docs">Documentation</a> <a href="/docs/reference">API reference</a> <a href="/docs/errors">Problems</a> <a href="/openapi.json">OpenAPI</a></nav>
<main>
${main}
</main>`,
  );
}

/** @param body  HTML. */
export function htmlDocument(title: string, stylesheet: string, body: string): StaticFile {
  return {
    contentType: "text/html; charset=utf-8",
    contentSecurityPolicy: inlineStylePolicy,
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${inline(title)}</title>
<link rel="stylesheet" href="${stylesheet}">
</head>
<body>
${body}
</body>
</html>
`,
  };
}

export const pageStyle: StaticFile = {
  contentType: "text/css; charset=utf-8",
  body: `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 52rem; padding: 1rem; }
nav { border-bottom: 1px solid #8886; padding-bottom: .5rem; }
nav a { margin-right: 1rem; }
h1 { font-size: 1.6rem; overflow-wrap: anywhere; }
code { background: #8882; border-radius: .2rem; padding: 0 .2rem; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #8884; padding: .3rem .8rem .3rem 0; text-align: left; vertical-align: top; }
dt { font-weight: 600; margin-top: .8rem; }
dd { margin: 0; }
`,
};
