/** Why a text is not an address, prefix or AS number, and the text that was meant, if there is only one candidate. */

import { formatAddress, parseAddress } from "./address.ts";
import { parseAsn } from "./asn.ts";
import { formatIpv4 } from "./ipv4.ts";
import { formatPrefix, parsePrefix } from "./prefix.ts";

export interface Mistake {
  /** Goes on after "is not an IPv4 or IPv6 address" and the like; null where nothing more can be said. */
  readonly reason: string | null;
  /** A text that is read, as what `kind` says; null where there is none or more than one. */
  readonly suggestion: string | null;
  /** What the text itself is, if it is not of the kind that was expected. */
  readonly kind?: "address" | "prefix" | "asn";
}

/** A longer text is not a misspelling. */
const charsMax = 80;
const unclear: Mistake = { reason: null, suggestion: null };

/** Explains a text that `parseAddress` refused. */
export function addressMistake(text: string): Mistake {
  if (text === "" || text.length > charsMax) return unclear;
  // In a URL, the zone id of `fe80::1%12` is a control character.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  const zone = text.search(/%|[\u0001-\u0008\u000e-\u001f]/);
  if (zone > 0 && (text[zone] === "%" || text.includes(":")))
    return addressMeant(text.slice(0, zone), "zone ids are only meaningful on one machine");
  if (/^[a-z]+:\/\//i.test(text)) return because("it is a URL");
  const slash = text.indexOf("/");
  if (slash > 0) return addressMeant(text.slice(0, slash), "an address has no prefix length");
  const trimmed = text.trim();
  if (trimmed !== text) return addressMeant(trimmed, "it has spaces around it");
  const bracketed = /^\[([^\]]*)\](:\d{1,5})?$/.exec(text);
  if (bracketed) return addressMeant(bracketed[1] ?? "", "brackets and ports are only allowed in URLs");
  const withPort = /^([\d.]+):\d{1,5}$/.exec(text);
  if (withPort) return addressMeant(withPort[1] ?? "", "brackets and ports are only allowed in URLs");
  if (/^as/i.test(text) && parseAsn(text) !== null) return { reason: "it is an AS number", suggestion: `AS${parseAsn(text)}`, kind: "asn" };
  const octets = octetsOf(text);
  if (octets !== null) return addressMeant(octets, "an address is not written as an integer");
  if (/^[-+]?[0-9]/.test(text) && /^[-+0-9a-fx.]+$/i.test(text)) return because(octetsFault(text.split(".")));
  if (!text.includes(":") && /[g-z]/i.test(text)) return because("host names are not resolved");
  return unclear;
}

/** Explains a text that `parsePrefix` refused for another reason than host bits. */
export function prefixMistake(text: string): Mistake {
  if (text === "" || text.length > charsMax) return unclear;
  const slash = text.indexOf("/");
  if (/^as/i.test(text) && parseAsn(text) !== null) return { reason: "it is an AS number", suggestion: `AS${parseAsn(text)}`, kind: "asn" };
  if (slash < 0 || slash === text.length - 1) return because("the prefix length is missing");
  const trimmed = text.trim();
  if (trimmed !== text) return prefixMeant(trimmed, "it has spaces around it");
  const [network, length] = [text.slice(0, slash), text.slice(slash + 1)];
  const address = parseAddress(network);
  if (address === null) return because(addressMistake(network).reason);
  const mask = maskLength(length);
  if (mask !== null && address.version === 4) return prefixMeant(`${network}/${mask}`, "use a prefix length instead of a netmask");
  if (/^0\d{1,3}$/.test(length)) return prefixMeant(`${network}/${Number(length)}`, "the prefix length has leading zeros");
  return because(`the length of an IPv${address.version} prefix is a decimal number, 0 to ${address.version === 4 ? 32 : 128}`);
}

/** Explains a text that `parseAsn` refused. */
export function asnMistake(text: string): Mistake {
  if (text.length > charsMax) return unclear;
  const address = parseAddress(text);
  if (address !== null) return { reason: "it is an IP address", suggestion: formatAddress(address), kind: "address" };
  const prefix = parsePrefix(text);
  if (prefix.ok) return { reason: "it is a prefix", suggestion: formatPrefix(prefix.prefix), kind: "prefix" };
  if (/^\s*[-+]/.test(text)) return because("it has no sign");
  if (/^(as)?(0x[0-9a-f]+|[0-9][0-9.]*e[-+]?[0-9]+)$/i.test(text)) return because("use decimal digits, optionally after AS");
  const bare = /^\s*(?:ASN?)?[\s-]*([\d.]*)\s*$/i.exec(text)?.[1];
  if (bare === undefined || bare === "") return unclear;
  const meant = bare.replaceAll(/(^|\.)0+(?=\d)/g, "$1");
  if (parseAsn(meant) !== null) {
    const isPadded = meant !== bare;
    return { reason: isPadded ? "it has leading zeros" : "use digits, optionally after AS", suggestion: `AS${meant}` };
  }
  if (/^\d+$/.test(meant)) return because("the maximum is 4294967295");
  return because("asdot has two parts of 0 to 65535");
}

/** The octets of an IPv4 address that is written as one number, as some programs do; null for smaller numbers, which mean something else. */
function octetsOf(text: string): string | null {
  const number = /^([1-9]\d{0,9}|0x[0-9a-f]{1,8})$/i.test(text) ? Number(text) : 0;
  if (number < 0x100_0000 || number > 0xffff_ffff) return null;
  return formatIpv4(number);
}

/** @returns what is wrong with the numbers of a text that was meant to be an IPv4 address. */
function octetsFault(octets: readonly string[]): string {
  if (octets.some((octet) => /^[-+]/.test(octet))) return "octets have no sign";
  if (octets.length !== 4 || octets.includes("")) return "an IPv4 address has four octets";
  if (octets.some((octet) => /[^0-9]/.test(octet))) return "octets must be decimal digits, because programs disagree on other forms";
  if (octets.some((octet) => Number(octet) > 255)) return "octets range from 0 to 255";
  // Whether 010 is ten or eight depends on who reads it: nothing is suggested.
  return "octets must not have leading zeros, because some programs read such octets as octal";
}

/** The length that a netmask stands for; null when the text is none. */
function maskLength(text: string): number | null {
  const mask = parseAddress(text);
  if (mask?.version !== 4) return null;
  const length = Math.clz32(~mask.w0);
  return (length === 0 ? 0 : (0xffff_ffff << (32 - length)) >>> 0) === mask.w0 ? length : null;
}

/** Nothing is suggested where what is left is no address either. */
function addressMeant(text: string, reason: string): Mistake {
  const address = parseAddress(text);
  return { reason, suggestion: address === null ? null : formatAddress(address) };
}

function prefixMeant(text: string, reason: string): Mistake {
  const reading = parsePrefix(text);
  if (reading.ok) return { reason, suggestion: formatPrefix(reading.prefix) };
  return { reason, suggestion: reading.fault === "host-bits" ? formatPrefix(reading.corrected) : null };
}

function because(reason: string | null): Mistake {
  return { reason, suggestion: null };
}
