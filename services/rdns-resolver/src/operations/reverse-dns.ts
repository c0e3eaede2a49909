/** Operation `reverse_dns`: the reverse DNS record of one address. */

import { type Address, formatAddress, type Prefix, reverseName } from "@netfacts/address";
import { decodeQuery, type ReverseDnsRecord, shownMembers, type View } from "@netfacts/contracts";
import { type ItemHandler, problemReply, type ReplyItem } from "@netfacts/messaging";
import {
  type Asked,
  type Freshness,
  freshness,
  reverseDnsRecord,
  withheldFreshness,
  withheldRecord,
} from "../domain/reverse-dns-record.ts";
import { isWithheld } from "../domain/withholding.ts";
import type { Failure, FoundEntry, PtrLookup } from "../lookup/ptr-lookup.ts";

export interface ReverseDnsDeps {
  readonly lookup: Pick<PtrLookup, "lookup">;
  readonly clock: { now(): number };
  readonly openPrefixes: readonly Prefix[];
  /** Called with every outcome, and with the answer if it comes from DNS. */
  readonly observe: (outcome: ReverseDnsRecord["status"] | Failure, found: FoundEntry | null) => void;
}

export function reverseDns({ lookup, clock, openPrefixes, observe }: ReverseDnsDeps): ItemHandler<null> {
  return async ({ query, requestId, budgetMs }) => {
    const {
      question: { ip },
      view,
    } = decodeQuery("reverse_dns", query);
    const asked = (): Asked => askedNow(ip, requestId, clock.now());
    if (isWithheld(ip, openPrefixes)) {
      observe("special_purpose", null);
      return reply(withheldRecord(asked()), withheldFreshness, view);
    }
    const result = await lookup.lookup(ip, budgetMs);
    if (result.kind !== "entry") {
      observe(result.kind, null);
      return problemReply({ code: result.kind === "unavailable" ? "resolver_unavailable" : "temporarily_overloaded" });
    }
    observe(result.failure ?? result.entry.status, result);
    return entryReply(asked(), result, view);
  };
}

function askedNow(ip: Address, requestId: string, now: number): Asked {
  return { ip: formatAddress(ip), queryName: reverseName(ip), requestId, now };
}

function entryReply(asked: Asked, result: FoundEntry, view: View): ReplyItem {
  return reply(reverseDnsRecord(asked, result.entry, result), freshness(result.entry, result, asked.now), view);
}

function reply(record: ReverseDnsRecord, { cacheable, maxAgeSeconds, etag }: Freshness, view: View): ReplyItem {
  const body = Buffer.from(JSON.stringify(shownMembers(record, view)));
  return { status: 200, contentType: "json", body, counted: true, cacheable, maxAgeSeconds, etag, snapshotId: "" };
}
