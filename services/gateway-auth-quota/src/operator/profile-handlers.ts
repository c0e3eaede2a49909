/** Handlers of the operators' routes of AS profiles. */

import { parseAsn } from "@netfacts/address";
import { type AsProfile, ProblemError, type ProfileFields, timestamp } from "@netfacts/contracts";
import { profilesPath } from "@netfacts/contracts/openapi";
import {
  type MergedProfile,
  mergedProfile,
  type ProfileField,
  ProfileOverrides,
  type SaidValue,
  type Store,
  searchMerged,
} from "@netfacts/storage";
import { quoteValue } from "../edge/echo.ts";
import type { AdminCall } from "./admin-request.ts";
import type { AdminHandlers } from "./admin-routes.ts";
import { decodePlace, encodePlace, invalidCursor, pageLimitDefault } from "./page-cursor.ts";

export interface ProfileHandlerDeps {
  readonly store: Pick<Store, "profiles" | "statements" | "audit">;
  readonly clock: { now(): number };
}

/** Handlers by the ids of the routes. */
export function profileHandlers({ store, clock }: ProfileHandlerDeps): AdminHandlers {
  const overrides = new ProfileOverrides(store, () => clock.now());

  /** @throws ProblemError if no source has a profile of the AS. */
  async function shownProfile(asn: number): Promise<AsProfile> {
    const found = await mergedProfile(store, asn);
    if (found === null) throw new ProblemError("profile_not_found");
    return shown(found);
  }

  return {
    async listProfiles({ query: { limit, cursor, q, source, field } }) {
      const after = afterOf(cursor);
      const { profiles, next } = await searchMerged(store, {
        limit: Number(limit ?? pageLimitDefault),
        ...(after !== undefined && { after }),
        ...(q !== undefined && { text: q }),
        ...(source !== undefined && { source }),
        // The route has checked the value by its schema.
        ...(field !== undefined && { field: field as ProfileField }),
      });
      return {
        status: 200,
        body: { items: profiles.map(shown), next_cursor: next === null ? null : encodePlace({ at: next, id: cursorKind }) },
      };
    },

    async getProfile(call) {
      return { status: 200, body: await shownProfile(asnOf(call)) };
    },

    async putProfile(call) {
      const asn = asnOf(call);
      const isNew = (await store.profiles.get(asn)) === null;
      await overrides.put(call.by, asn, call.body as ProfileFields);
      const body = await shownProfile(asn);
      return isNew ? { status: 201, body, headers: { location: `${profilesPath}/AS${asn}` } } : { status: 200, body };
    },

    async deleteProfile(call) {
      if (!(await overrides.delete(call.by, asnOf(call)))) throw new ProblemError("profile_not_found");
      return { status: 204 };
    },
  };
}

/** Marks cursors of this list, which have an AS number where those of other lists have a time. */
const cursorKind = "asn";

function afterOf(cursor: string | undefined): number | undefined {
  const place = decodePlace(cursor);
  if (place !== undefined && place.id !== cursorKind) throw invalidCursor();
  return place?.at;
}

function shown({ asn, fields, override }: MergedProfile): AsProfile {
  const said = ({ value, source, asOf }: SaidValue) => ({ value, source, as_of: asOf === null ? null : timestamp(Date.parse(asOf)) });
  return {
    asn,
    fields: fields.map((each) => ({ field: each.field, ...said(each), others: each.others.map(said) })),
    override: (override?.profile ?? null) as ProfileFields | null,
    by: override?.source ?? null,
    updated_at: override === null ? null : timestamp(override.updatedAt),
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
