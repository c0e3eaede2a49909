/** Questions as values, and their canonical text: one text per question, the same in messages and in ETags. */

import { type Address, formatAddress, formatPrefix, type Prefix, parseAddress, parsePrefix } from "@netfacts/address";
import type { OperationName } from "./operations.ts";
import type { RpkiState } from "./parts/rpki.ts";
import { rpkiStates } from "./parts/rpki.ts";

/** Items of a list where the caller names no `limit`. */
export const listLimitDefault = 100;

/** The largest `limit`. */
export const listLimitMax = 1_000;

export interface IpQuestion {
  readonly ip: Address;
}
export interface RoutingQuestion {
  readonly ip: Address;
  readonly moreSpecifics: boolean;
  readonly upstreams: boolean;
  readonly limit: number;
}
export interface ValidityQuestion {
  readonly asn: number;
  readonly prefix: Prefix;
}
/** `family`, `rpki`: null = all. */
export interface AsnQuestion {
  readonly asn: number;
  readonly family: 4 | 6 | null;
  readonly rpki: RpkiState | null;
  readonly aggregate: boolean;
  readonly limit: number;
}
export interface PrefixQuestion {
  readonly prefix: Prefix;
  readonly limit: number;
}
export interface ReverseDnsQuestion {
  readonly ip: Address;
}
export type StatusQuestion = Readonly<Record<string, never>>;

/** The question of each operation. */
export interface Questions {
  ip: IpQuestion;
  routing: RoutingQuestion;
  validity: ValidityQuestion;
  asn: AsnQuestion;
  prefix: PrefixQuestion;
  reverse_dns: ReverseDnsQuestion;
  status: StatusQuestion;
}

/** A canonical query that is none: only a fault of a sender of ours can cause it. */
export class QuestionSyntaxError extends Error {
  override readonly name = "QuestionSyntaxError";
  readonly op: string;
  constructor(op: string) {
    super(`not a canonical query of operation ${op}`);
    this.op = op;
  }
}

/** A codec's `decode` answers null on anything that it cannot read; `decodeQuestion` refuses what is read but not canonical. */
interface Codec<Q> {
  encode(question: Q): string;
  decode(fields: readonly string[]): Q | null;
}

/** No field may hold it: not addresses, not numbers, not the words below. */
const separator = "|";

/** Stands for null and for "no flag". */
const none = "-";

const addressCodec: Codec<{ ip: Address }> = {
  encode: ({ ip }) => formatAddress(ip),
  decode: ([text, ...rest]) => {
    const ip = readAddress(text);
    return ip === null || rest.length > 0 ? null : { ip };
  },
};

const codecs: { readonly [O in OperationName]: Codec<Questions[O]> } = {
  ip: addressCodec,
  reverse_dns: addressCodec,

  routing: {
    encode: ({ ip, moreSpecifics, upstreams, limit }) =>
      [formatAddress(ip), moreSpecifics ? "more_specifics" : none, upstreams ? "upstreams" : none, limit].join(separator),
    decode: ([ipText, moreText, upstreamsText, limitText, ...rest]) => {
      const ip = readAddress(ipText);
      const moreSpecifics = readFlag(moreText, "more_specifics");
      const upstreams = readFlag(upstreamsText, "upstreams");
      const limit = readLimit(limitText);
      if (ip === null || moreSpecifics === null || upstreams === null || limit === null || rest.length > 0) return null;
      return { ip, moreSpecifics, upstreams, limit };
    },
  },

  validity: {
    encode: ({ asn, prefix }) => `${asn}${separator}${formatPrefix(prefix)}`,
    decode: ([asnText, prefixText, ...rest]) => {
      const asn = readAsn(asnText);
      const prefix = readPrefix(prefixText);
      return asn === null || prefix === null || rest.length > 0 ? null : { asn, prefix };
    },
  },

  asn: {
    encode: ({ asn, family, rpki, aggregate, limit }) =>
      [asn, family ?? none, rpki ?? none, aggregate ? "aggregate" : none, limit].join(separator),
    decode: ([asnText, familyText, rpkiText, aggregateText, limitText, ...rest]) => {
      const asn = readAsn(asnText);
      const family = readFamily(familyText);
      const rpki = readRpkiState(rpkiText);
      const aggregate = readFlag(aggregateText, "aggregate");
      const limit = readLimit(limitText);
      if (asn === null || family === undefined || rpki === undefined || aggregate === null || limit === null || rest.length > 0)
        return null;
      return { asn, family, rpki, aggregate, limit };
    },
  },

  prefix: {
    encode: ({ prefix, limit }) => `${formatPrefix(prefix)}${separator}${limit}`,
    decode: ([prefixText, limitText, ...rest]) => {
      const prefix = readPrefix(prefixText);
      const limit = readLimit(limitText);
      return prefix === null || limit === null || rest.length > 0 ? null : { prefix, limit };
    },
  },

  status: {
    encode: () => "",
    decode: ([text, ...rest]) => (text === "" && rest.length === 0 ? {} : null),
  },
};

/** The one text of this question: printable ASCII without spaces, at most 100 characters. */
export function encodeQuestion<O extends OperationName>(op: O, question: Questions[O]): string {
  return codecs[op].encode(question);
}

/**
 * Reads a canonical text back; equal questions have equal texts, and no other text is accepted.
 *
 * @throws QuestionSyntaxError on anything that `encodeQuestion` does not produce.
 */
export function decodeQuestion<O extends OperationName>(op: O, query: string): Questions[O] {
  const codec: Codec<Questions[O]> = codecs[op];
  const question = codec.decode(query.split(separator));
  if (question === null || codec.encode(question) !== query) throw new QuestionSyntaxError(op);
  return question;
}

function readAddress(text: string | undefined): Address | null {
  return text === undefined ? null : parseAddress(text);
}

function readPrefix(text: string | undefined): Prefix | null {
  if (text === undefined) return null;
  const reading = parsePrefix(text);
  return reading.ok ? reading.prefix : null;
}

function readAsn(text: string | undefined): number | null {
  return readInteger(text, 0, 4_294_967_295);
}

function readLimit(text: string | undefined): number | null {
  return readInteger(text, 1, listLimitMax);
}

function readInteger(text: string | undefined, min: number, max: number): number | null {
  if (text === undefined || !/^\d{1,10}$/.test(text)) return null;
  const value = Number(text);
  return value >= min && value <= max ? value : null;
}

function readFlag(text: string | undefined, name: string): boolean | null {
  if (text === name) return true;
  return text === none ? false : null;
}

/** Undefined = not readable; null = all. */
function readFamily(text: string | undefined): 4 | 6 | null | undefined {
  if (text === "4") return 4;
  if (text === "6") return 6;
  return text === none ? null : undefined;
}

function readRpkiState(text: string | undefined): RpkiState | null | undefined {
  return text === none ? null : rpkiStates.find((state) => state === text);
}
