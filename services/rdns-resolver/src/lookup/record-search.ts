/** Finds the records of one name: follows aliases to their end, within a deadline and an allowance of queries. */

import type { Allowance, Outcome } from "../dns/exchange.ts";
import type { Nameserver } from "../dns/nameserver.ts";
import type { NameserverPool } from "../dns/pool.ts";
import { type DnssecState, weakestState } from "../domain/dnssec.ts";
import { type ChainTarget, followChain, type RecordType } from "../domain/name-chain.ts";
import { negativeTtl, type ResolutionStatus } from "../domain/resolution.ts";

/** Most aliases between a question and its records. RFC 2317 needs one; the limit ends loops. */
const aliasesMax = 8;

export interface RecordQuestion {
  readonly name: string;
  readonly type: RecordType;
}

/** Limits of one lookup, for all of its questions. */
export interface Bounds {
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  readonly allowance: Allowance;
}

export interface RecordsFound {
  readonly status: ResolutionStatus;
  /** Ascending, without duplicates; empty unless the status is `ok`. */
  readonly targets: readonly ChainTarget[];
  /** Smallest TTL of all records that the outcome depends on, in seconds; null: DNS gives none. */
  readonly ttl: number | null;
  /** Null: there was no answer. */
  readonly dnssec: DnssecState | null;
}

type Answered = Extract<Outcome, { kind: "answer" }>;

/** Whether a nameserver validates. If this is unknown until the deadline, false. */
function knownBy(server: Nameserver, deadline: number): boolean | Promise<boolean> {
  const known = server.validates();
  return typeof known === "boolean" ? known : until(known, deadline);
}

async function until(known: Promise<boolean>, deadline: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), deadline - performance.now());
  });
  try {
    return await Promise.race([known, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The state of an answer. Needs no promise if the nameserver is known, as nearly always. */
function stateOf({ answer, server }: Answered, deadline: number): DnssecState | Promise<DnssecState> {
  if (answer.authentic) {
    server.authenticated();
    return "secure";
  }
  const known = knownBy(server, deadline);
  return typeof known === "boolean" ? unsigned(known) : known.then(unsigned);
}

function unsigned(validates: boolean): DnssecState {
  return validates ? "insecure" : "indeterminate";
}

/**
 * Finds out why a nameserver that validates failed: it could not get the answer, or the answer fails validation. In the second case it
 * answers if it must not validate (CD, RFC 4035 §3.2.2), and fails again if it must. A temporary failure gives an answer instead.
 */
async function secondOpinion(
  pool: Pick<NameserverPool, "ask">,
  question: RecordQuestion,
  failed: readonly Nameserver[],
  { deadline, allowance }: Bounds,
): Promise<Answered | "bogus" | "failed"> {
  const known = await Promise.all(failed.map((server) => knownBy(server, deadline)));
  const validating = failed.filter((_, index) => known[index] === true);
  if (validating.length === 0) return "failed";
  const unchecked = await pool.ask({ ...question, checkingDisabled: true, allowance }, deadline, validating);
  if (unchecked.kind !== "answer") return "failed";
  const { server } = unchecked;
  const again = await pool.ask({ ...question, allowance }, deadline, [server]);
  if (again.kind === "answer") return again;
  return again.kind === "failed" && again.servers.includes(server) ? "bogus" : "failed";
}

/** Finds records through aliases. Resolvers follow aliases themselves; if one stops early, further questions follow the rest. */
export async function findRecords(
  pool: Pick<NameserverPool, "ask">,
  question: RecordQuestion,
  bounds: Bounds,
): Promise<RecordsFound | "unavailable"> {
  const { deadline, allowance } = bounds;
  let asked = question;
  let aliases = 0;
  let aliasTtl = Number.POSITIVE_INFINITY;
  let dnssec: DnssecState = "secure";
  for (;;) {
    let outcome = await pool.ask({ name: asked.name, type: asked.type, allowance }, deadline);
    if (outcome.kind === "unavailable") return "unavailable";
    if (outcome.kind === "failed") {
      // For forward lookups the record shows only the failure, not its reason.
      const isUnclear = question.type === "PTR" && outcome.status === "servfail";
      const opinion = isUnclear ? await secondOpinion(pool, asked, outcome.servers, bounds) : "failed";
      if (typeof opinion === "string") {
        return { status: outcome.status, targets: [], ttl: null, dnssec: opinion === "bogus" ? "bogus" : null };
      }
      outcome = opinion;
    }
    const { answer } = outcome;
    const state = stateOf(outcome, deadline);
    dnssec = weakestState(dnssec, typeof state === "string" ? state : await state);
    const chain = followChain(asked, answer.records, aliasesMax - aliases);
    aliases += chain.aliases;
    aliasTtl = Math.min(aliasTtl, chain.ttl);
    const { targets } = chain;
    if (chain.broken) return { status: "servfail", targets: [], ttl: null, dnssec };
    if (targets.length > 0)
      return { status: "ok", targets, ttl: targets.reduce((least, { ttl }) => Math.min(least, ttl), aliasTtl), dnssec };
    // The response code of an answer with aliases applies to the last name (RFC 6604).
    const isAbsent = answer.rcode !== 0;
    if (isAbsent || chain.aliases === 0 || answer.soa !== null) {
      const ttl = negativeTtl(answer.soa);
      return { status: isAbsent ? "nxdomain" : "nodata", targets, ttl: ttl === null ? null : Math.min(ttl, aliasTtl), dnssec };
    }
    asked = { ...question, name: chain.end };
  }
}
