/** What answers the operators' routes of AS profiles. */

import { parseAsn } from "@netfacts/address";
import { type OverriddenProfile, ProblemError, type ProfileFields, timestamp } from "@netfacts/contracts";
import { profilesPath } from "@netfacts/contracts/openapi";
import { ProfileOverrides, type ProfileRecord, type Store, searchProfiles } from "@netfacts/storage";
import { quoteValue } from "../edge/echo.ts";
import type { AdminCall } from "./admin-request.ts";
import type { AdminHandlers } from "./admin-routes.ts";
import { decodePlace, invalidCursor, pageLimitDefault, pageOf } from "./page-cursor.ts";

export interface ProfileHandlerDeps {
  readonly store: Pick<Store, "profiles" | "audit">;
  readonly clock: { now(): number };
}

/** By the ids of the routes. */
export function profileHandlers({ store, clock }: ProfileHandlerDeps): AdminHandlers {
  const overrides = new ProfileOverrides(store, () => clock.now());

  return {
    async listProfiles({ query: { limit: size, cursor, q } }) {
      const limit = Number(size ?? pageLimitDefault);
      const after = afterOf(cursor);
      const found = await searchProfiles(store.profiles, {
        limit: limit + 1,
        ...(after !== undefined && { after }),
        ...(q !== undefined && { text: q }),
      });
      return { status: 200, body: pageOf(found, limit, shown, ({ asn }) => ({ at: asn, id: cursorKind })) };
    },

    async getProfile(call) {
      const found = await store.profiles.get(asnOf(call));
      if (found === null) throw new ProblemError("profile_not_found");
      return { status: 200, body: shown(found) };
    },

    async putProfile(call) {
      const asn = asnOf(call);
      const isNew = (await store.profiles.get(asn)) === null;
      const written = shown(await overrides.put(call.by, asn, call.body as ProfileFields));
      return isNew ? { status: 201, body: written, headers: { location: `${profilesPath}/AS${asn}` } } : { status: 200, body: written };
    },

    async deleteProfile(call) {
      if (!(await overrides.delete(call.by, asnOf(call)))) throw new ProblemError("profile_not_found");
      return { status: 204 };
    },
  };
}

/** Of our cursors, which have an AS number where those of other lists have a time. */
const cursorKind = "asn";

function afterOf(cursor: string | undefined): number | undefined {
  const place = decodePlace(cursor);
  if (place !== undefined && place.id !== cursorKind) throw invalidCursor();
  return place?.at;
}

function shown({ asn, profile, source, updatedAt }: ProfileRecord): OverriddenProfile {
  return {
    asn,
    override: profile as ProfileFields,
    by: source,
    updated_at: timestamp(updatedAt),
    links: { asn: `/api/v1/asn/AS${asn}`, audit: `/admin/v1/audit?target=AS${asn}` },
  };
}

/** @throws ProblemError */
function asnOf({ path: { asn: text = "" } }: AdminCall): number {
  const asn = parseAsn(text);
  if (asn !== null) return asn;
  const errors = [{ location: "path.asn", code: "invalid_asn" as const, message: "is not an AS number" }];
  throw new ProblemError("invalid_asn", { detail: `${quoteValue(text)} is not an AS number.`, errors });
}
