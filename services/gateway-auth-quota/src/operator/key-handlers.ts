/** Handlers of the operators' routes of keys. */

import {
  type CreatedKey,
  type KeyPatch,
  type KeyRotation,
  type NewKey,
  ProblemError,
  type RotatedKey,
  timestamp,
} from "@netfacts/contracts";
import { keysPath } from "@netfacts/contracts/openapi";
import type { Administration, KeyOutcome, KeyRecord, KeyPatch as StoredPatch } from "@netfacts/keys";
import type { Store } from "@netfacts/storage";
import { managedKey } from "./admin-records.ts";
import type { AdminCall } from "./admin-request.ts";
import type { AdminAnswer, AdminHandlers } from "./admin-routes.ts";
import { decodePlace, pageLimitDefault, pageOf } from "./page-cursor.ts";

export interface KeyHandlerDeps {
  readonly store: Pick<Store, "keys">;
  readonly administration: Administration;
  readonly clock: { now(): number };
}

/** Handlers by the ids of the routes. */
export function keyHandlers({ store, administration, clock }: KeyHandlerDeps): AdminHandlers {
  const shown = (key: KeyRecord) => managedKey(key, clock.now());
  const state = (action: "disable" | "enable" | "revoke") => async (call: AdminCall) =>
    answerOf(await administration.setKeyState(call.by, idOf(call), action, isForced(call), call.idempotency ?? undefined), shown);

  return {
    async listKeys({ query }) {
      const limit = Number(query.limit ?? pageLimitDefault);
      const after = decodePlace(query.cursor);
      const found = await store.keys.page({
        limit: limit + 1,
        ...(after !== undefined && { after: { createdAt: after.at, id: after.id } }),
        ...(query.plan !== undefined && { plan: query.plan }),
      });
      return { status: 200, body: pageOf(found, limit, shown, ({ createdAt, id }) => ({ at: createdAt, id })) };
    },

    async createKey({ by, body, idempotency }) {
      const { label, scopes, environment, ...rest } = body as NewKey;
      const spec = { label, scopes, ...(environment !== undefined && { environment }), ...changes(rest) };
      const { key, secret } = await administration.createKey(by, spec, idempotency ?? undefined);
      return made(key, secret, { ...shown(key), secret } satisfies CreatedKey);
    },

    async getKey(call) {
      const key = await store.keys.find(idOf(call));
      if (key === null) throw new ProblemError("key_not_found");
      return { status: 200, body: shown(key) };
    },

    async updateKey(call) {
      const patch = changes(call.body as KeyPatch);
      return answerOf(await administration.updateKey(call.by, idOf(call), patch, isForced(call)), shown);
    },

    async rotateKey(call) {
      const { overlap_seconds, expires_at } = call.body as KeyRotation;
      const options = {
        ...(overlap_seconds !== undefined && { overlapMs: overlap_seconds * 1_000 }),
        ...(expires_at !== undefined && { expiresAt: msOrNull(expires_at) }),
      };
      const rotated = await administration.rotateKey(call.by, idOf(call), options, call.idempotency ?? undefined);
      if (rotated.outcome === "absent") throw new ProblemError("key_not_found");
      if (rotated.outcome !== "rotated") throw new ProblemError("key_state_conflict", { detail: rotationRefusals[rotated.outcome] });
      const { old, successor, secret } = rotated;
      const replaces = { id: old.id, valid_until: timestamp(old.validUntil ?? clock.now()) };
      return made(successor, secret, { ...shown(successor), secret, replaces } satisfies RotatedKey);
    },

    disableKey: state("disable"),
    enableKey: state("enable"),
    revokeKey: state("revoke"),
  };
}

const rotationRefusals = {
  revoked: "The key is revoked, which is final.",
  replaced: "The key was already replaced. Rotate its successor instead, which `rotation.replaced_by` names.",
  unusable: "The key is disabled or expired. First enable it or set a later expiry.",
};

const lastAdminRefusals = {
  key: "Nothing was changed, because no active key with the scope `admin` would remain.",
  time: "Nothing was changed, because no key with the scope `admin` would remain active after the new expiry.",
  networks:
    "Nothing was changed, because `allowed_cidrs` does not contain your address, and no other active key with the scope `admin` works from it.",
};

/** The id is not validated: no key is found for an id of another form. */
function idOf({ path }: AdminCall): string {
  return path.id ?? "";
}

function isForced({ query }: AdminCall): boolean {
  return query.force === "true";
}

function made(key: KeyRecord, secret: string | null, body: object): AdminAnswer {
  return secret === null ? { status: 200, body } : { status: 201, body, headers: { location: `${keysPath}/${key.id}` } };
}

function answerOf(outcome: KeyOutcome, shown: (key: KeyRecord) => object): AdminAnswer {
  switch (outcome.outcome) {
    case "absent":
      throw new ProblemError("key_not_found");
    case "revoked":
      throw new ProblemError("key_state_conflict", { detail: rotationRefusals.revoked });
    case "last-admin":
      throw new ProblemError("last_admin_key", { detail: lastAdminRefusals[outcome.loss] });
    default:
      return { status: 200, body: shown(outcome.key) };
  }
}

/** The members of the request, with the names of the store. */
function changes({ label, scopes, allowed_cidrs, plan, rate, month, concurrency, expires_at }: KeyPatch): StoredPatch {
  return {
    ...(label !== undefined && { label }),
    ...(scopes !== undefined && { scopes }),
    ...(allowed_cidrs !== undefined && { allowedCidrs: allowed_cidrs }),
    ...(plan !== undefined && { plan }),
    ...(rate !== undefined && { rate: rate === null ? null : { limit: rate.limit, windowSeconds: rate.window_seconds } }),
    ...(month !== undefined && { month }),
    ...(concurrency !== undefined && { concurrency }),
    ...(expires_at !== undefined && { expiresAt: msOrNull(expires_at) }),
  };
}

function msOrNull(time: string | null): number | null {
  return time === null ? null : Date.parse(time);
}
