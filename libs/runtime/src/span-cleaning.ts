/** Removes secrets from spans: instrumentations record URLs and error messages unchanged. */

import type { Attributes, SpanStatus } from "@opentelemetry/api";
import { withoutSecrets } from "./secrets.ts";

/** The parts of an ended span that can contain text from outside. */
export interface EndedSpan {
  readonly name: string;
  readonly attributes: Attributes;
  readonly events: readonly { readonly attributes?: Attributes }[];
  readonly status: SpanStatus;
}

/** The query of a URL, where callers put secrets by mistake; the log has it in its own form. */
const queryAttributes = ["url.query"];
const urlAttributes = ["url.full", "url.path", "http.url", "http.target"];

/** Changes the span in place: removes queries, and replaces keys and credentials in all texts. */
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
