/** A slow, obvious reading of what inetnum and inet6num objects of a registry dump refer to. */

import { firstAddress, formatAddress, lastAddress, parseAddress, parsePrefix } from "@netfacts/address";
import { timeOf } from "./observations.ts";

export interface ObviousReferences {
  readonly references: string[];
  readonly objects: number;
  readonly refused: number;
}

const isSpace = (letter: string | undefined) => letter !== undefined && letter.trim() === "";

/** Without the comment, which begins with a hash behind white space. */
function withoutComment(text: string): string {
  for (let at = 1; at < text.length; at++) if (text[at] === "#" && isSpace(text[at - 1])) return text.slice(0, at).trim();
  return text.trim();
}

/** Names and values, in order; those without a name of letters, digits and dashes have the name "". */
function attributesOf(lines: readonly string[]): { name: string; value: string }[] {
  const found: { name: string; value: string }[] = [];
  for (const line of lines) {
    if (line.startsWith("#") || line.startsWith("%")) continue;
    const last = found.at(-1);
    if (" \t+".includes(line[0] as string) && last !== undefined) {
      last.value = [last.value, withoutComment(` ${line.slice(1)}`)].filter((part) => part !== "").join(" ");
      continue;
    }
    const [name = "", ...rest] = line.split(":");
    const isName =
      name !== "" && rest.length > 0 && [...name.toLowerCase()].every((letter) => "abcdefghijklmnopqrstuvwxyz0123456789-".includes(letter));
    found.push(isName ? { name: name.toLowerCase(), value: withoutComment(rest.join(":")) } : { name: "", value: "" });
  }
  return found;
}

/** First and last address, and how many bits the range has at most; null: none. */
function rangeOf(isIpv6: boolean, text: string): { first: string; last: string; isTooLarge: boolean } | null {
  const slash = text.indexOf("/");
  if (isIpv6 || slash >= 0) {
    const parts = text.slice(0, slash).split(".");
    const zeros = isIpv6 || parts.length > 4 ? 0 : 4 - parts.length;
    const reading = parsePrefix(`${text.slice(0, slash)}${".0".repeat(zeros)}${text.slice(slash)}`);
    if (!reading.ok || reading.prefix.version !== (isIpv6 ? 6 : 4)) return null;
    const { prefix } = reading;
    return {
      first: formatAddress(firstAddress(prefix)),
      last: formatAddress(lastAddress(prefix)),
      isTooLarge: prefix.length < (isIpv6 ? 12 : 8),
    };
  }
  const parts = text.split("-");
  const [first, last] = parts.map((part) => parseAddress(part.trim()));
  if (parts.length !== 2 || first?.version !== 4 || last?.version !== 4 || first.w0 > last.w0) return null;
  return { first: formatAddress(first), last: formatAddress(last), isTooLarge: last.w0 - first.w0 >= 2 ** 24 };
}

function urlOf(text: string): string | null {
  if ([...text].some(isSpace) || text.length > 2_048 || !URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.protocol !== "https:" || url.hostname === "" || `${url.username}${url.password}` !== "") return null;
  return url.href.split("#")[0] as string;
}

/** Undefined: not to be trusted. */
export function obviousReferences(bytes: Uint8Array, badMax: number): ObviousReferences | undefined {
  const text = Buffer.from(bytes).toString("latin1");
  if (!text.endsWith("\n")) return undefined;
  const lines = text
    .replace(/^\u00ef\u00bb\u00bf/, "")
    .split("\n")
    .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  const references: string[] = [];
  const counts = { good: 0, bad: 0, refused: 0 };
  for (let at = 0; at < lines.length; at++) {
    const from = at;
    while (at < lines.length && lines[at] !== "") at++;
    const [head, ...attributes] = attributesOf(lines.slice(from, at));
    if (head?.name !== "inetnum" && head?.name !== "inet6num") continue;
    const range = rangeOf(head.name === "inet6num", head.value);
    if (range === null) {
      counts.bad++;
      continue;
    }
    counts.good++;
    const values = (name: string) => attributes.flatMap((attribute) => (attribute.name === name ? [attribute.value] : []));
    const remarks = values("remarks").flatMap((value) => {
      const [word, url] = value.split(/\s+/);
      return word === "Geofeed" && url !== undefined ? [url] : [];
    });
    const named = [...values("geofeed").filter((value) => value !== ""), ...remarks][0];
    if (named === undefined) continue;
    const url = urlOf(named);
    if (url === null || range.isTooLarge) counts.refused++;
    else references.push(`${range.first} ${range.last} ${url} ${timeOf(values("last-modified").at(-1)) ?? 0}`);
  }
  if (counts.good === 0 || counts.bad > (counts.good + counts.bad) * badMax) return undefined;
  return { references, objects: counts.good, refused: counts.refused };
}
