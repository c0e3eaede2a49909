/** `/me`: the key of the caller, the state of its limits, and the address of the client. Costs no unit of the month. */

import type { MeLimit, MeRecord } from "@netfacts/contracts";
import { contentTypes, ProblemError, timestamp } from "@netfacts/contracts";
import type { FastifyRequest, RouteHandlerMethod } from "fastify";
import type { Guard } from "../edge/guard.ts";
import type { VerifiedKey } from "../keys/index.ts";
import type { Limiter, LimitStanding } from "../limits/index.ts";
import { readJsonWish } from "./json-wish.ts";

export function meHandler(guard: Guard, limiter: Limiter, clock: { now(): number }): RouteHandlerMethod {
  return async (request, reply) => {
    const pass = await guard.admit(request, reply, null, 0, "me");
    let record: MeRecord;
    try {
      readJsonWish(request);
      const standings = await limiter.peek(pass.key);
      if (standings === null) throw new ProblemError("limits_unavailable");
      record = meRecord(pass.key, standings, request, clock.now());
    } finally {
      pass.settle(false);
    }
    return reply.headers({ "content-type": contentTypes.json, "cache-control": "no-store" }).send(JSON.stringify(record));
  };
}

function meRecord(key: VerifiedKey, standings: readonly LimitStanding[], request: FastifyRequest, now: number): MeRecord {
  return {
    key: {
      id: key.id,
      label: key.label,
      display: key.display,
      scopes: [...key.scopes],
      created_at: timestamp(key.createdAt),
      expires_at: timestampOrNull(key.expiresAt),
      rotation: { replaced_by: key.rotation.replacedBy, valid_until: timestampOrNull(key.rotation.validUntil) },
      allowed_cidrs: [...key.allowedCidrs],
    },
    plan: key.plan,
    limits: standings.map(meLimit),
    client: { ip: request.clientAddress },
    meta: { request_id: request.id, generated_at: timestamp(now), data: {}, warnings: [] },
  };
}

function meLimit(standing: LimitStanding): MeLimit {
  if (standing.name === "concurrency") return standing;
  const { name, limit, windowSeconds, used, remaining, resetsInSeconds, resetsAt } = standing;
  if (windowSeconds !== null) return { name, limit, window_seconds: windowSeconds, used, remaining, resets_in_seconds: resetsInSeconds };
  return { name, limit, used, remaining, resets_at: timestamp(resetsAt), resets_in_seconds: resetsInSeconds };
}

function timestampOrNull(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms);
}
