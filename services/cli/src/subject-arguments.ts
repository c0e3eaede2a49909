/** Reads addresses, prefixes and AS numbers in arguments of commands. Errors say why a text is none, and what was probably meant. */

import {
  type Address,
  addressMistake,
  asnMistake,
  formatPrefix,
  hostPrefix,
  type Mistake,
  type Prefix,
  parseAddress,
  parseAsn,
  parsePrefix,
  prefixMistake,
} from "@netfacts/address";
import { InvalidArgumentError } from "commander";

export function addressArgument(text: string): Address {
  const address = parseAddress(text);
  if (address === null) throw new InvalidArgumentError(expected("an IPv4 or IPv6 address", addressMistake(text)));
  return address;
}

export function asnArgument(text: string): number {
  const asn = parseAsn(text);
  if (asn === null) throw new InvalidArgumentError(expected("an AS number, such as 3333, AS3333 or 1.10", asnMistake(text)));
  return asn;
}

export function prefixArgument(text: string): Prefix {
  const reading = parsePrefix(text);
  if (reading.ok) return reading.prefix;
  throw new InvalidArgumentError(expected("a prefix, such as 193.0.0.0/21 or 2001:db8::/32", mistakeOfPrefix(text)));
}

/** A prefix if the text has a slash, else an AS number. */
export function prefixOrAsnArgument(text: string): { readonly prefix: Prefix } | { readonly asn: number } {
  const asn = parseAsn(text);
  if (asn !== null) return { asn };
  const reading = parsePrefix(text);
  if (reading.ok) return { prefix: reading.prefix };
  throw new InvalidArgumentError(expected("a prefix, such as 193.0.0.0/21, or an AS number, such as AS3333", mistakeOfEither(text)));
}

/** An address or, for `isAddress` false, a prefix. */
export function notRead(text: string, isAddress: boolean): string {
  return isAddress
    ? expected("an IPv4 or IPv6 address", addressMistake(text))
    : expected("a prefix, such as 192.0.2.0/24", mistakeOfPrefix(text));
}

function mistakeOfEither(text: string): Mistake {
  const address = parseAddress(text);
  if (address !== null) return { reason: "it is an IP address; a prefix has a length", suggestion: formatPrefix(hostPrefix(address)) };
  return text.includes("/") ? mistakeOfPrefix(text) : asnMistake(text);
}

function mistakeOfPrefix(text: string): Mistake {
  const reading = parsePrefix(text);
  if (reading.ok || reading.fault !== "host-bits") return prefixMistake(text);
  return { reason: "it has bits set beyond its length", suggestion: formatPrefix(reading.corrected) };
}

function expected(what: string, { reason, suggestion, kind }: Mistake): string {
  const because = reason === null ? "" : `: ${reason}`;
  if (suggestion === null) return `Expected ${what}${because}.`;
  const meant = kind === undefined ? suggestion : `\`netfacts lookup ${commandOf[kind]} ${suggestion}\``;
  return `Expected ${what}${because}; did you mean ${meant}?`;
}

const commandOf: Readonly<Record<NonNullable<Mistake["kind"]>, string>> = { address: "ip", prefix: "prefix", asn: "asn" };
