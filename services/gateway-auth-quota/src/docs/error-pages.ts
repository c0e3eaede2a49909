/** `/docs/errors` and a page for each code, which the `type` of a problem links to. Made from the table of problems. */

import { type ErrorEntry, errors, type ProblemCode, problemCodes } from "@netfacts/contracts";
import { inline, page } from "./page.ts";
import type { StaticFile } from "./static-file.ts";

/** The page of all codes, in order of status. */
export function errorIndex(): StaticFile {
  const rows = [...problemCodes]
    .sort((a, b) => errors[a].status - errors[b].status)
    .map(
      (code) =>
        `<tr><td>${errors[code].status}</td><td><a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${inline(errors[code].title)}</td></tr>`,
    );
  return page(
    "Problems",
    `<h1>Problems</h1>
<p>Every error response is a problem document (RFC 9457) of type <code>application/problem+json</code>. The meaning of a <code>code</code> never changes within v1.
Include the <code>request_id</code> when you contact your operator.</p>
<table>
<thead><tr><th>Status</th><th>Code</th><th>Title</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>`,
  );
}

/** The page of one code. */
export function errorPage(code: ProblemCode): StaticFile {
  const { status, title, happened, remedy } = errors[code];
  return page(
    title,
    `<h1>${inline(title)}</h1>
<p>Status ${status}, code <code>${code}</code></p>
<dl>
<dt>What happened</dt><dd>${inline(happened)}</dd>
<dt>What to do</dt><dd>${inline(remedy)}</dd>
<dt>Does a retry help?</dt><dd>${inline(retryText(errors[code]))}</dd>
</dl>`,
  );
}

/** Whether and when the same request may succeed. */
function retryText({ retry, retryAfterSeconds }: ErrorEntry): string {
  if (retry === "never") return "No. The same request fails again.";
  if (retryAfterSeconds === null) return "Yes, later. If the response has a `Retry-After` header, wait at least that long.";
  return `Yes, after \`Retry-After\` seconds (default: ${retryAfterSeconds}).`;
}
