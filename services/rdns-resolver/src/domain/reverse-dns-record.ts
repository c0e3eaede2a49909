/** The record of `/reverse-dns`, and how long it may be kept by whoever asked. */

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

/** What this one answer took; nothing, when it was kept from an earlier one. */
export interface Effort {
  readonly hit: boolean;
  /** The answer has expired, and no newer one is to be had. */
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

/** The record of an address whose question was withheld. */
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

/** Who may keep the record, and by what it is told from another one. */
export interface Freshness {
  readonly cacheable: boolean;
  readonly maxAgeSeconds: number;
  readonly etag: string;
}

/** The smallest remaining TTL decides, and of a stale answer when it is tried again; what may not be kept has no ETag. */
export function freshness(entry: Entry, { stale, freshUntil }: { stale: boolean; freshUntil: number }, now: number): Freshness {
  const maxAgeSeconds = Math.max(0, Math.min(Math.floor((freshUntil - now) / 1_000), maxAgeSecondsMax));
  const cacheable = entry.expiresAt > entry.storedAt;
  return { cacheable, maxAgeSeconds, etag: cacheable ? `${entry.storedAt} ${entry.status}${stale ? " stale" : ""}` : "" };
}

/** A withheld question has the same answer as long as the table of special-purpose space. */
export const withheldFreshness: Freshness = { cacheable: true, maxAgeSeconds: maxAgeSecondsMax, etag: "special_purpose" };

/** A name that is not shown may be the one that leads back. */
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
