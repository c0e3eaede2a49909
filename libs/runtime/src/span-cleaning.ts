/** Spans without secrets: instrumentations record URLs and messages of errors as they are. */

import type { Attributes, SpanStatus } from "@opentelemetry/api";
import { withoutSecrets } from "./secrets.ts";

/** What of an ended span can carry a text from outside. */
export interface EndedSpan {
  readonly name: string;
  readonly attributes: Attributes;
  readonly events: readonly { readonly attributes?: Attributes }[];
  readonly status: SpanStatus;
}

/** The part of a URL in which callers put what does not belong there; the log has it in a form of its own. */
const queryAttributes = ["url.query"];
const urlAttributes = ["url.full", "url.path", "http.url", "http.target"];

/** Changes the span in place: queries are dropped, keys and credentials in any text are replaced. */
export function cleanSpan(span: EndedSpan): void {
  cleanAttributes(span.attributes);
  for (const { attributes } of span.events) if (attributes !== undefined) cleanAttributes(attributes);
  if (span.status.message !== undefined) span.status.message = withoutSecrets(span.status.message);
}

function cleanAttributes(attributes: Attributes): void {
  for (const name of queryAttributes) delete attributes[name];
  for (const name of urlAttributes) {
    const url = attributes[name];
    if (typeof url === "string") attributes[name] = url.split("?", 1)[0];
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "string") attributes[name] = withoutSecrets(value);
    else if (Array.isArray(value))
      attributes[name] = value.map((one) => (typeof one === "string" ? withoutSecrets(one) : one)) as typeof value;
  }
}
