/** The client: one method for each route, lists as async iteration. */

import type {
  AsnChangesRecord,
  AsnPrefix,
  AsnRecord,
  AsnVrp,
  AsnVrpsRecord,
  BatchQuestion,
  BatchResult,
  ChangeItem,
  IpRecord,
  MeRecord,
  OperationName,
  PrefixChangesRecord,
  PrefixRecord,
  RecordOf,
  RelatedPrefix,
  ReverseDnsRecord,
  RoutingRecord,
  RpkiState,
  SearchRecord,
  StatusRecord,
  ValidityRecord,
} from "@netfacts/contracts";
import { type BatchOptions, batchResults } from "./batch.ts";
import { NetfactsUnreachable } from "./errors.ts";
import type { Limits } from "./limits.ts";
import { type ClientOptions, settingsOf } from "./options.ts";
import { Transport } from "./transport.ts";

export interface CallOptions {
  /** Cancels the request and its waits; its reason is thrown. */
  readonly signal?: AbortSignal;
}

/** Options of requests about the data, which may be about the past. */
export interface PastOptions extends CallOptions {
  /** Answers from the snapshot of this time: a `Date`, RFC 3339, or a date for the end of that day (UTC). `meta.history` names the snapshot. */
  readonly asOf?: string | Date;
}

/** Options of a list that has pages. */
export interface PageOptions extends PastOptions {
  /** Items of one page, 1 to 1,000. */
  readonly limit?: number;
  /** `next_cursor` of the previous page. */
  readonly cursor?: string;
}

/** Options of what changed; the snapshots are all that are kept. */
export type ChangesOptions = Omit<PageOptions, "asOf">;

export interface RoutingOptions extends PastOptions {
  readonly include?: readonly ("more_specifics" | "upstreams")[];
  readonly limit?: number;
}

export interface AsnOptions extends PageOptions {
  readonly family?: 4 | 6;
  readonly rpki?: RpkiState;
  /** Merges prefixes without adding unannounced space. */
  readonly aggregate?: boolean;
}

export interface AsnVrpsOptions extends PageOptions {
  readonly family?: 4 | 6;
  /** True: only VRPs that authorise an announced prefix; false: only those that authorise none. */
  readonly announced?: boolean;
  /** True: only VRPs that authorise more prefixes than the AS announces. */
  readonly loose?: boolean;
}

/** The items of a list over all its pages, from the cursor of the options on. */
async function* itemsOf<T, O extends { readonly cursor?: string }>(
  options: O,
  ask: (options: O) => Promise<{ readonly items: readonly T[]; readonly next_cursor: string | null }>,
): AsyncGenerator<T, void, undefined> {
  for (let asked = options; ; ) {
    const { items, next_cursor: cursor } = await ask(asked);
    yield* items;
    if (cursor === null) return;
    asked = { ...options, cursor };
  }
}

function past(asOf: string | Date | undefined): Query {
  return { as_of: asOf instanceof Date ? asOf.toISOString() : asOf };
}

/** As the paths of routes have it. */
function prefixPath(prefix: string): string {
  const slash = prefix.indexOf("/");
  const [network, length] = slash < 0 ? [prefix, ""] : [prefix.slice(0, slash), prefix.slice(slash + 1)];
  return `${encodeURIComponent(network)}/${encodeURIComponent(length)}`;
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** `reverse_dns` → `reverseDns`. */
type CamelCase<Text extends string> = Text extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Text;

/** A method for every operation of the API; it returns the record. */
type OperationMethods = {
  readonly [O in OperationName as CamelCase<O>]: (...args: never[]) => Promise<RecordOf<O>>;
};

/**
 * Sends requests to one server. Safe to share: it has no connection of its own.
 *
 * Every method throws `NetfactsProblem` if the server refuses the request, and `NetfactsUnreachable` if there is no response of Netfacts; both
 * after the retries that can help.
 */
export class NetfactsClient implements OperationMethods {
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    this.#transport = new Transport(settingsOf(options));
  }

  /** Limits of the key, from the last response; null before the first. */
  get limits(): Limits | null {
    return this.#transport.limits;
  }

  /** What fits a text that somebody typed, best first. For suggestions, ask with a small `limit`, and cancel with `signal` when the text changes. */
  search(q: string, { signal, asOf, ...query }: PageOptions = {}): Promise<SearchRecord> {
    return this.#get("/search", { q, ...query, ...past(asOf) }, { ...(signal && { signal }) });
  }

  /** Registration, origins, visibility and RPKI state of an address, in short. */
  ip(ip: string, { asOf, ...options }: PastOptions = {}): Promise<IpRecord> {
    return this.#get(`/ip/${encodeURIComponent(ip)}`, past(asOf), options);
  }

  /** The announced prefix that holds an address: each origin, its visibility, its RPKI state and the reason. */
  routing(ip: string, { include = [], limit, asOf, ...options }: RoutingOptions = {}): Promise<RoutingRecord> {
    return this.#get(
      `/routing/${encodeURIComponent(ip)}`,
      { include: include.length === 0 ? undefined : include.join(","), limit, ...past(asOf) },
      options,
    );
  }

  /** Facts about an AS, and one page of its prefixes. `asn`: `3333`, `"AS3333"` or asdot. */
  asn(asn: number | string, { signal, asOf, ...query }: AsnOptions = {}): Promise<AsnRecord> {
    return this.#get(`/asn/${encodeURIComponent(asn)}`, { ...query, ...past(asOf) }, { ...(signal && { signal }) });
  }

  /** Every prefix that an AS announces. All pages come from one version of the data. */
  async *asnPrefixes(asn: number | string, options: AsnOptions = {}): AsyncGenerator<AsnPrefix, void, undefined> {
    yield* itemsOf(options, async (page) => (await this.asn(asn, page)).prefixes);
  }

  /** The announced prefix that equals `prefix` (`193.0.0.0/21`), or else the longest that covers it. */
  prefix(prefix: string, { signal, asOf, ...query }: PageOptions = {}): Promise<PrefixRecord> {
    return this.#get(`/prefix/${prefixPath(prefix)}`, { ...query, ...past(asOf) }, { ...(signal && { signal }) });
  }

  /** Every announced prefix inside a prefix. All pages come from one version of the data. */
  async *moreSpecifics(prefix: string, options: PageOptions = {}): AsyncGenerator<RelatedPrefix, void, undefined> {
    yield* itemsOf(options, async (page) => (await this.prefix(prefix, page)).more_specifics);
  }

  /** The names of an address in DNS, each with a forward check. */
  reverseDns(ip: string, options?: CallOptions): Promise<ReverseDnsRecord> {
    return this.#get(`/reverse-dns/${encodeURIComponent(ip)}`, {}, options);
  }

  /** Route origin validation (RFC 6811) of any pair of origin and prefix. */
  validity(asn: number | string, prefix: string, { asOf, ...options }: PastOptions = {}): Promise<ValidityRecord> {
    return this.#get("/validity", { asn, prefix, ...past(asOf) }, options);
  }

  /** The VRPs for an AS, each with the number of announced prefixes that it authorises: one page. */
  asnVrps(asn: number | string, { signal, asOf, ...query }: AsnVrpsOptions = {}): Promise<AsnVrpsRecord> {
    return this.#get(`/vrps/${encodeURIComponent(asn)}`, { ...query, ...past(asOf) }, { ...(signal && { signal }) });
  }

  /** Every VRP for an AS. All pages come from one version of the data. */
  async *vrpsOfAs(asn: number | string, options: AsnVrpsOptions = {}): AsyncGenerator<AsnVrp, void, undefined> {
    yield* itemsOf(options, async (page) => (await this.asnVrps(asn, page)).vrps);
  }

  /** One page of what changed for an AS between the kept snapshots, newest first. A page can be empty and still have a `next_cursor`. */
  asnChanges(asn: number | string, { signal, ...query }: ChangesOptions = {}): Promise<AsnChangesRecord> {
    return this.#get(`/changes/${encodeURIComponent(asn)}`, query, { ...(signal && { signal }) });
  }

  /** The same for a prefix (`193.0.0.0/21`). */
  prefixChanges(prefix: string, { signal, ...query }: ChangesOptions = {}): Promise<PrefixChangesRecord> {
    return this.#get(`/changes/${prefixPath(prefix)}`, query, { ...(signal && { signal }) });
  }

  /** Every change of an AS or a prefix, newest first. */
  async *changes(subject: number | string, options: ChangesOptions = {}): AsyncGenerator<ChangeItem, void, undefined> {
    const isPrefix = typeof subject === "string" && subject.includes("/");
    yield* itemsOf(
      options,
      async (page) => (await (isPrefix ? this.prefixChanges(subject, page) : this.asnChanges(subject, page))).changes,
    );
  }

  /** The key and what is left of its limits. It does not count towards the quota. */
  me(options?: CallOptions): Promise<MeRecord> {
    return this.#get("/me", {}, options);
  }

  /** The data in service. Needs no key. */
  status(options?: CallOptions): Promise<StatusRecord> {
    return this.#get("/status", {}, options);
  }

  /**
   * Sends any number of questions of any kind, and yields one result for each, in their order. A question that fails yields its problem.
   * Reads ahead as many questions as one request holds.
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
      return readRecord(await response.text(), response.status) as T;
    });
  }
}

/**
 * @returns an object with members: a proxy may respond with JSON of its own.
 * @throws NetfactsUnreachable for another body.
 */
export function readRecord(body: string, status: number): object {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (cause) {
    throw new NetfactsUnreachable("the response is not JSON", { status, cause });
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0) return value;
  throw new NetfactsUnreachable("the response is JSON and no record of Netfacts", { status });
}
