/** The record of `/reverse-dns`, and the time that callers may cache it. */

import type { Meta, ReverseDnsRecord } from "@netfacts/contracts";
import { timestamp } from "@netfacts/contracts";
import { forwardConfirmed } from "./forward.ts";
import type { Entry } from "./resolution.ts";

/** The longest `max-age`, whatever the TTL. */
const maxAgeSecondsMax = 300;

export interface Asked {
  readonly ip: string;
  readonly queryName: string;
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly now: number;
}

/** The work for this answer; none if it was cached. */
export interface Effort {
  readonly hit: boolean;
  /** The answer has expired, and there is no newer one. */
  readonly stale: boolean;
  readonly durationMs: number;
  readonly queries: number;
}

export function reverseDnsRecord(asked: Asked, entry: Entry, effort: Effort): ReverseDnsRecord {
  const kept = entry.expiresAt > entry.storedAt;
  return {
    ip: asked.ip,
    query_name: asked.queryName,
    status: entry.status,
    names: entry.names.map(({ name, ttl, forward }) => ({ name, ttl_seconds: ttl, forward })),
    forward_confirmed: leadsBack(entry),
    dnssec: entry.dnssec,
    resolver: { duration_ms: Math.round(effort.durationMs), attempts: effort.queries },
    cache: {
      hit: effort.hit,
      stored_at: kept ? timestamp(entry.storedAt) : null,
      expires_at: kept ? timestamp(entry.expiresAt) : null,
      negative: entry.negative,
      stale: effort.stale,
    },
    meta: meta(asked, [...staleness(entry, effort), ...truncation(entry)]),
  };
}

/** The record of an address that is not looked up. */
export function withheldRecord(asked: Asked): ReverseDnsRecord {
  return {
    ip: asked.ip,
    query_name: asked.queryName,
    status: "special_purpose",
    names: [],
    forward_confirmed: null,
    dnssec: null,
    resolver: null,
    cache: null,
    meta: meta(asked, []),
  };
}

/** Whether and how long the record may be cached, and its entity tag. */
export interface Freshness {
  readonly cacheable: boolean;
  readonly maxAgeSeconds: number;
  readonly etag: string;
}

/** `max-age` follows the smallest remaining TTL, or for a stale answer the time of the next attempt. A record that must not be cached has no ETag. */
export function freshness(entry: Entry, { stale, freshUntil }: { stale: boolean; freshUntil: number }, now: number): Freshness {
  const maxAgeSeconds = Math.max(0, Math.min(Math.floor((freshUntil - now) / 1_000), maxAgeSecondsMax));
  const cacheable = entry.expiresAt > entry.storedAt;
  return { cacheable, maxAgeSeconds, etag: cacheable ? `${entry.storedAt} ${entry.status}${stale ? " stale" : ""}` : "" };
}

/** The answer without a lookup changes only with the table of special-purpose space. */
export const withheldFreshness: Freshness = { cacheable: true, maxAgeSeconds: maxAgeSecondsMax, etag: "special_purpose" };

/** A name that is not shown may be a confirmed one. */
function leadsBack({ names, namesTotal }: Entry): boolean | null {
  const shown = names.map(({ forward }) => forward);
  return forwardConfirmed(namesTotal > names.length ? [...shown, null] : shown);
}

function staleness({ expiresAt }: Entry, { stale }: Effort): Meta["warnings"] {
  if (!stale) return [];
  return [{ code: "dns_stale", detail: `The answer expired at ${timestamp(expiresAt)}, and DNS gives no newer one` }];
}

function truncation({ names, namesTotal }: Entry): Meta["warnings"] {
  const lookedUp = names.filter(({ forward }) => forward !== null).length;
  const warnings: Meta["warnings"] = [];
  if (names.length < namesTotal) warnings.push({ code: "truncated", detail: `${names.length} of ${namesTotal} names are shown` });
  if (lookedUp > 0 && lookedUp < names.length) {
    warnings.push({ code: "truncated", detail: `Forward lookups were made for ${lookedUp} of ${names.length} names` });
  }
  return warnings;
}

function meta({ requestId, now }: Asked, warnings: Meta["warnings"]): Meta {
  return { request_id: requestId, generated_at: timestamp(now), data: {}, warnings };
}
