/** The records of one name: aliases followed to their end, within a deadline and an allowance of queries. */

import type { Allowance, Outcome } from "../dns/exchange.ts";
import type { Nameserver } from "../dns/nameserver.ts";
import type { NameserverPool } from "../dns/pool.ts";
import { type DnssecState, weakestState } from "../domain/dnssec.ts";
import { type ChainTarget, followChain, type RecordType } from "../domain/name-chain.ts";
import { negativeTtl, type ResolutionStatus } from "../domain/resolution.ts";

/** Aliases between a question and its records. RFC 2317 needs one; circles end here. */
const aliasesMax = 8;

export interface RecordQuestion {
  readonly name: string;
  readonly type: RecordType;
}

/** What bounds one lookup, over all of its questions. */
export interface Bounds {
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  readonly allowance: Allowance;
}

export interface RecordsFound {
  readonly status: ResolutionStatus;
  /** Ascending, each once; empty unless the status is `ok`. */
  readonly targets: readonly ChainTarget[];
  /** The smallest TTL of everything that the outcome rests on, in seconds; null where DNS gives none. */
  readonly ttl: number | null;
  /** Null where nothing was answered. */
  readonly dnssec: DnssecState | null;
}

type Answered = Extract<Outcome, { kind: "answer" }>;

/** Where a nameserver says nothing of validation for so long, it is taken not to validate. */
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

/** At once where the nameserver is known, as nearly always. */
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
 * A nameserver that validates fails both for what it cannot get and for what fails validation. Only the latter it gives when told not to
 * check (CD, RFC 4035 §3.2.2), and fails again when it is to check: a failure that passes by itself gives an answer instead.
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

/** Resolvers follow aliases themselves; where one stops early, the rest is asked for by further questions. */
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
      // Of a name's addresses only the failure is shown.
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
    // The code of an answer with aliases is that of the last name (RFC 6604).
    const isAbsent = answer.rcode !== 0;
    if (isAbsent || chain.aliases === 0 || answer.soa !== null) {
      const ttl = negativeTtl(answer.soa);
      return { status: isAbsent ? "nxdomain" : "nodata", targets, ttl: ttl === null ? null : Math.min(ttl, aliasTtl), dnssec };
    }
    asked = { ...question, name: chain.end };
  }
}
