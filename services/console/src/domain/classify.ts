/** Recognises the kind of a text in the search field, in the browser, without a request. */

import { formatAddress, formatPrefix, parseAddress, parseAsn, parsePrefix } from "@netfacts/address";

export type Subject =
  | { readonly kind: "address"; readonly text: string }
  | {
      readonly kind: "prefix";
      readonly text: string /** Whether bits beyond the length were set, and are not in `text`. */;
      readonly corrected: boolean;
    }
  | { readonly kind: "as"; readonly text: string };

/** Quotes, brackets and punctuation around a copied text. */
const around = /^[\s"'`´“”„‘’‚«»‹›(<[]+|[\s"'`´“”„‘’‚«»‹›)>\],.;]+$/g;
/** IPv4 or IPv6 in brackets, with a port. */
const withPort = /^(?:(\d+(?:\.\d+){3})|\[([^\]]*)\]):\d{1,5}$/;

/** Accepts a text with a port or with punctuation around it. @returns null for any other text: a name, or a typing error. */
export function classify(input: string): Subject | null {
  const text = input.trim();
  const bare = text.replaceAll(around, "");
  const [, ipv4, ipv6] = withPort.exec(text) ?? withPort.exec(bare) ?? [];
  return classifyPlain(text) ?? classifyPlain(ipv4 ?? ipv6 ?? bare);
}

function classifyPlain(text: string): Subject | null {
  const asn = parseAsn(text.replace(/^as[\s-]+/i, "AS"));
  if (asn !== null) return { kind: "as", text: `AS${asn}` };
  const address = parseAddress(text);
  if (address !== null) return { kind: "address", text: formatAddress(address) };
  if (!text.includes("/")) return null;
  const reading = parsePrefix(text);
  if (reading.ok) return { kind: "prefix", text: formatPrefix(reading.prefix), corrected: false };
  return reading.fault === "host-bits" ? { kind: "prefix", text: formatPrefix(reading.corrected), corrected: true } : null;
}

/** The path of the page of a subject. */
export function pathOf({ kind, text }: Pick<Subject, "kind" | "text">): string {
  return `/${kind}/${text}`;
}
