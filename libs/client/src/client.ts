/** The client: one method a route, lists as async iteration. */

import type {
  AsnPrefix,
  AsnRecord,
  BatchQuestion,
  BatchResult,
  IpRecord,
  MeRecord,
  OperationName,
  PrefixRecord,
  RecordOf,
  RelatedPrefix,
  ReverseDnsRecord,
  RoutingRecord,
  RpkiState,
  StatusRecord,
  ValidityRecord,
} from "@netfacts/contracts";
import { type BatchOptions, batchResults } from "./batch.ts";
import { NetfactsUnreachable } from "./errors.ts";
import type { Limits } from "./limits.ts";
import { type ClientOptions, settingsOf } from "./options.ts";
import { Transport } from "./transport.ts";

export interface CallOptions {
  /** Ends the question, its waits too; the reason is thrown. */
  readonly signal?: AbortSignal;
}

/** Of a list that comes in pages. */
export interface PageOptions extends CallOptions {
  /** Items of one page, 1 to 1,000. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

export interface RoutingOptions extends CallOptions {
  readonly include?: readonly ("more_specifics" | "upstreams")[];
  readonly limit?: number;
}

export interface AsnOptions extends PageOptions {
  readonly family?: 4 | 6;
  readonly rpki?: RpkiState;
  /** Merges prefixes without adding unannounced space. */
  readonly aggregate?: boolean;
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** `reverse_dns` → `reverseDns`. */
type CamelCase<Text extends string> = Text extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Text;

/** A method for every operation of the API, which answers its record. */
type OperationMethods = {
  readonly [O in OperationName as CamelCase<O>]: (...args: never[]) => Promise<RecordOf<O>>;
};

/**
 * Asks one installation. Safe to share: it holds no connection of its own.
 *
 * Every method throws `NetfactsProblem` for what the installation refuses, `NetfactsUnreachable` where there is no answer; both after
 * the retries that can help.
 */
export class NetfactsClient implements OperationMethods {
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    this.#transport = new Transport(settingsOf(options));
  }

  /** The key's limits as the last answer told them; null before the first. */
  get limits(): Limits | null {
    return this.#transport.limits;
  }

  /** Who was allocated an address, who announces it, and where the operator has seen it. */
  ip(ip: string, options?: CallOptions): Promise<IpRecord> {
    return this.#get(`/ip/${encodeURIComponent(ip)}`, {}, options);
  }

  /** The route of an address: every origin with who sees it, and why RPKI says what it says. */
  routing(ip: string, { include = [], limit, ...options }: RoutingOptions = {}): Promise<RoutingRecord> {
    return this.#get(
      `/routing/${encodeURIComponent(ip)}`,
      { include: include.length === 0 ? undefined : include.join(","), limit },
      options,
    );
  }

  /** What an AS is, and one page of what it announces. `asn`: `3333`, `"AS3333"` or asdot. */
  asn(asn: number | string, { signal, ...query }: AsnOptions = {}): Promise<AsnRecord> {
    return this.#get(`/asn/${encodeURIComponent(asn)}`, query, { ...(signal && { signal }) });
  }

  /** Every prefix that an AS announces, over all pages, all of one version of the data. */
  async *asnPrefixes(asn: number | string, options: AsnOptions = {}): AsyncGenerator<AsnPrefix, void, undefined> {
    for (let cursor = options.cursor; ; ) {
      const { prefixes } = await this.asn(asn, { ...options, ...(cursor !== undefined && { cursor }) });
      yield* prefixes.items;
      if (prefixes.next_cursor === null) return;
      cursor = prefixes.next_cursor;
    }
  }

  /** The exact prefix, or the longest that covers it. `prefix`: `193.0.0.0/21`. */
  prefix(prefix: string, { signal, ...query }: PageOptions = {}): Promise<PrefixRecord> {
    const slash = prefix.indexOf("/");
    const [network, length] = slash < 0 ? [prefix, ""] : [prefix.slice(0, slash), prefix.slice(slash + 1)];
    return this.#get(`/prefix/${encodeURIComponent(network)}/${encodeURIComponent(length)}`, query, { ...(signal && { signal }) });
  }

  /** Every announced prefix inside a prefix, over all pages, all of one version of the data. */
  async *moreSpecifics(prefix: string, options: PageOptions = {}): AsyncGenerator<RelatedPrefix, void, undefined> {
    for (let cursor = options.cursor; ; ) {
      const { more_specifics: page } = await this.prefix(prefix, { ...options, ...(cursor !== undefined && { cursor }) });
      yield* page.items;
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }

  /** The names of an address by DNS, each checked forward. */
  reverseDns(ip: string, options?: CallOptions): Promise<ReverseDnsRecord> {
    return this.#get(`/reverse-dns/${encodeURIComponent(ip)}`, {}, options);
  }

  /** RFC 6811 for any pair of origin and prefix. */
  validity(asn: number | string, prefix: string, options?: CallOptions): Promise<ValidityRecord> {
    return this.#get("/validity", { asn, prefix }, options);
  }

  /** The key itself and what is left of its limits. Costs nothing of the month. */
  me(options?: CallOptions): Promise<MeRecord> {
    return this.#get("/me", {}, options);
  }

  /** The data in service. Needs no key. */
  status(options?: CallOptions): Promise<StatusRecord> {
    return this.#get("/status", {}, options);
  }

  /**
   * Asks any number of questions, of any kind, and yields a result for each, in their order; a question that fails yields its problem.
   * Reads as many questions ahead as one request takes.
   */
  batch(
    questions: Iterable<BatchQuestion> | AsyncIterable<BatchQuestion>,
    options: BatchOptions = {},
  ): AsyncGenerator<BatchResult, void, undefined> {
    return batchResults(this.#transport, questions, options);
  }

  #get<T>(path: string, query: Query, { signal }: CallOptions = {}): Promise<T> {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
    const text = search.toString();
    const call = { path: `/api/v1${path}${text === "" ? "" : `?${text}`}`, accept: "application/json", signal };
    return this.#transport.ask(call, async ({ response }) => {
      const body = await response.text();
      try {
        return JSON.parse(body) as T;
      } catch (cause) {
        throw new NetfactsUnreachable("the response is not JSON", { status: response.status, cause });
      }
    });
  }
}
