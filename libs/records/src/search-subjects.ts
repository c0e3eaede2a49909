/** Finds what the text of a search names directly: an AS number, an address, a prefix, or a host name with an address in it. */

import {
  type Address,
  formatAddress,
  formatPrefix,
  type Prefix,
  type PrefixReading,
  parseAddress,
  parseAsn,
  parsePrefix,
} from "@netfacts/address";
import type { SearchMatch, SearchResult } from "@netfacts/contracts";
import { lookupSpecialPurpose, lookupSpecialPurposePrefix, matchRoute, type RouteOrigin } from "@netfacts/snapshot";
import type { AnswerNotes } from "./answer.ts";
import { asnResult, asnText } from "./search-results.ts";

export interface Subjects {
  readonly results: SearchResult[];
  /** The text to search for in names: the whole text, the domain of a host name, or nothing if the text is an address or a prefix. */
  readonly searched: string;
  /** AS numbers among the results. */
  readonly asns: readonly number[];
}

/** Number of origins of a route that are added as results. */
const originsMax = 3;

export function subjectsOf(q: string, notes: AnswerNotes): Subjects {
  const text = addressAlone(hostOfUrl(q));
  const list = new SubjectList(text, notes);
  const number = /^ASN?[\s:#-]*(\d[\d.]*)$/i.exec(text)?.[1];
  const asn = parseAsn(number ?? text);
  if (asn !== null) list.addAsn(asn, "exact", text);
  if (number === undefined) return { results: list.results, searched: addNumbers(text, list), asns: list.asns };
  // As a single word it may also be a part of a name: "ERX-TANET-ASN1".
  const searched = /^ASN?\d+$/i.test(text) ? text : `AS${number}`;
  return { results: list.results, searched, asns: list.asns };
}

/** Adds the address or the prefix that the text is or contains. Returns the text to search for in names. */
function addNumbers(text: string, list: SubjectList): string {
  const ip = parseAddress(text);
  const reading = parsePrefix(text);
  const prefix = reading.ok ? reading.prefix : reading.fault === "host-bits" ? reading.corrected : begunAddress(text);
  const reversed = reverseName(text);
  if (ip !== null) list.addAddress(ip, "exact");
  else if (prefix !== null) list.addPrefix(prefix, reading.ok ? "exact" : "derived");
  else if (reversed !== null) list.addAddress(reversed, "derived");
  else {
    const inside = addressInName(text);
    if (inside !== null) list.addAddress(inside, "derived");
    return domainOf(text) ?? text;
  }
  return "";
}

class SubjectList {
  readonly results: SearchResult[] = [];
  readonly asns: number[] = [];
  readonly #text: string;
  readonly #notes: AnswerNotes;

  constructor(text: string, notes: AnswerNotes) {
    this.#text = text;
    this.#notes = notes;
  }

  addAsn(asn: number, match: SearchMatch, text: string | null): void {
    if (this.asns.includes(asn)) return;
    this.asns.push(asn);
    const result = asnResult(this.#notes.generation, asn, match, []);
    const end = asnText(asn).length;
    this.results.push({ ...result, highlights: text === null ? [] : [{ start: /^\d+$/.test(text) ? 2 : 0, end }] });
  }

  /** Adds the address, its route with the origins, and its reverse DNS. */
  addAddress(ip: Address, match: SearchMatch): void {
    this.#notes.use("routes");
    const { generation } = this.#notes;
    const { routes } = generation;
    const entry = routes === null ? -1 : matchRoute(routes, ip, generation.matchPeersMin(ip.version)).entry;
    const route = routes === null || entry < 0 ? null : { prefix: routes.prefixes.prefixAt(entry), origins: routes.origins(entry) };
    const subtitle =
      route === null ? (lookupSpecialPurpose(ip)?.name ?? null) : `in ${formatPrefix(route.prefix)}${announcedBy(route.origins)}`;
    const title = formatAddress(ip);
    this.#add({ type: "address", match, title, subtitle, link: `/api/v1/ip/${title}` });
    if (route !== null) {
      const prefix = formatPrefix(route.prefix);
      this.#add({
        type: "prefix",
        match: "derived",
        title: prefix,
        subtitle: subtitleOf(announcedBy(route.origins)),
        link: `/api/v1/prefix/${prefix}`,
      });
      for (const asn of asnsOf(route.origins).slice(0, originsMax)) this.addAsn(asn, "derived", null);
    }
    this.#add({
      type: "reverse_dns",
      match: "derived",
      title,
      subtitle: "names of this address in DNS",
      link: `/api/v1/reverse-dns/${title}`,
    });
  }

  addPrefix(prefix: Prefix, match: SearchMatch): void {
    this.#notes.use("routes");
    const { routes } = this.#notes.generation;
    const entry = routes === null ? -1 : routes.prefixes.exact(prefix);
    const origins = routes === null || entry < 0 ? [] : routes.origins(entry);
    const title = formatPrefix(prefix);
    const subtitle = subtitleOf(announcedBy(origins)) ?? lookupSpecialPurposePrefix(prefix)?.name ?? null;
    this.#add({ type: "prefix", match, title, subtitle, link: `/api/v1/prefix/${title}` });
    for (const asn of asnsOf(origins).slice(0, originsMax)) this.addAsn(asn, "derived", null);
  }

  /** Highlights the whole title if it is what was typed, otherwise nothing. */
  #add(result: Omit<SearchResult, "highlights">): void {
    const isNamed = result.match === "exact" || result.title === this.#text;
    this.results.push({ ...result, highlights: isNamed ? [{ start: 0, end: result.title.length }] : [] });
  }
}

function asnsOf(origins: readonly RouteOrigin[]): number[] {
  return origins.flatMap(({ asn }) => (asn === null ? [] : [asn]));
}

/** Text to append to an announced prefix; empty if it is not announced. */
function announcedBy(origins: readonly RouteOrigin[]): string {
  if (origins.length === 0) return "";
  const asns = asnsOf(origins);
  if (asns.length === 0)
    return origins.some(({ asSet }) => asSet !== null) ? ", announced with an AS_SET as its origin" : ", announced with an unknown origin";
  const more = asns.length - originsMax;
  return `, announced by ${asns.slice(0, originsMax).map(asnText).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function subtitleOf(announced: string): string | null {
  return announced === "" ? null : announced.slice(2);
}

/** Quotation marks: those that open in one language close in another. */
const quotes = "\"'`´“”„‘’‚«»‹›";
const opening = new RegExp(`^[\\s${quotes}(<]+`);
const closing = new RegExp(`[\\s${quotes}/)>,;.]+$`);

/** Removes the marks around a text in logs and sentences. */
function withoutMarks(text: string): string {
  return text.replace(opening, "").replace(closing, "");
}

/** The host of a pasted URL, otherwise the text. */
function hostOfUrl(text: string): string {
  return (
    /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@\s]*@)?(?:\[([0-9a-f:.]+)\]|([^/?#:\s]+))/i
      .exec(withoutMarks(text))
      ?.slice(1)
      .find((host) => host !== undefined) ?? text
  );
}

/** Written forms of an address: in brackets, with a port, with a zone, or plain. */
const writtenForms = [/^\[([^\]%]+)(?:%[^\]]+)?\](?::\d{1,5})?$/, /^([\d.]+):\d{1,5}$/, /^([^%]*:[^%]*)%[\w.-]+$/, /^(.+)$/];

/** The address or prefix of a text that has nothing else except a port, a zone, and marks around it; otherwise the text. */
function addressAlone(text: string): string {
  const bare = withoutMarks(text);
  const parts = writtenForms.map((form) => form.exec(bare)?.[1] ?? "");
  return parts.find((part) => parseAddress(part) !== null || !isSyntaxFault(parsePrefix(part))) ?? text;
}

function isSyntaxFault(reading: PrefixReading): boolean {
  return !reading.ok && reading.fault === "syntax";
}

/** Reads `193.0` and `2001:67c:` as the prefix of all addresses that begin with it. */
function begunAddress(text: string): Prefix | null {
  const octets = /^(\d{1,3})\.(?:(\d{1,3})(?:\.(?:(\d{1,3})\.?)?)?)?$/.exec(text);
  if (octets !== null) {
    const known = octets.slice(1).filter((octet) => octet !== undefined);
    return prefixOf(`${[...known, "0", "0", "0"].slice(0, 4).join(".")}/${known.length * 8}`);
  }
  const groups = /^((?:[0-9a-f]{1,4}:){1,7})([0-9a-f]{1,4})?:?$/i.exec(text);
  if (groups === null) return null;
  const known = text.split(":").filter((group) => group !== "");
  return known.length > 7 || text.includes("::") ? null : prefixOf(`${known.join(":")}::/${known.length * 16}`);
}

function prefixOf(text: string): Prefix | null {
  const reading = parsePrefix(text);
  return reading.ok ? reading.prefix : null;
}

/** The address of a name below `in-addr.arpa` or `ip6.arpa` (RFC 1035 §3.5, RFC 3596 §2.5). */
function reverseName(text: string): Address | null {
  const ipv4 = /^((?:\d{1,3}\.){4})in-addr\.arpa\.?$/i.exec(text)?.[1];
  if (ipv4 !== undefined) return parseAddress(ipv4.split(".").slice(0, 4).reverse().join("."));
  const ipv6 = /^((?:[0-9a-f]\.){32})ip6\.arpa\.?$/i.exec(text)?.[1];
  if (ipv6 === undefined) return null;
  return parseAddress(
    ipv6
      .replaceAll(".", "")
      .split("")
      .reverse()
      .join("")
      .replaceAll(/(.{4})(?!$)/g, "$1:"),
  );
}

/** Labels, the last of which is not a number. */
const hostName = /^(?=.{4,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]\.?$/i;

/** The IPv4 address in a host name, as providers write it: `host-193-0-6-139.example.net`. */
function addressInName(text: string): Address | null {
  if (!hostName.test(text)) return null;
  const octets = /(?<!\d)(\d{1,3})([-.])(\d{1,3})\2(\d{1,3})\2(\d{1,3})(?!\d)/.exec(text);
  return octets === null ? null : parseAddress([octets[1], octets[3], octets[4], octets[5]].map(Number).join("."));
}

/** Second-level labels below which countries register names. */
const registryLabels = new Set(["co", "com", "net", "org", "ac", "gov", "edu", "or", "ne", "go"]);

/** The label that the holder of a domain chose: `bbc` of `www.bbc.co.uk`; null: the text is not a host name. */
function domainOf(text: string): string | null {
  if (!hostName.test(text)) return null;
  const labels = text.toLowerCase().replace(/\.$/, "").split(".");
  const below = registryLabels.has(labels.at(-2) ?? "") && labels.length > 2 ? 3 : 2;
  return labels.at(-below) ?? null;
}
