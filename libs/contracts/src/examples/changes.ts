/** Example records of what changed between snapshots. */

import type { AsnChangesRecord, ChangeItem, PrefixChangesRecord } from "../records/changes.ts";
import { metaWithoutData } from "./meta.ts";

const before = { snapshot: "20261119T080000Z-5c3e91b7", published_at: "2026-11-19T08:04:02Z" };
const after = { snapshot: "20261120T080000Z-1a2b3c4d", published_at: "2026-11-20T08:04:10Z" };
const item: ChangeItem = {
  change: "rpki_state_changed",
  prefix: "193.0.0.0/21",
  origin: 3333,
  as_set: null,
  from: "not-found",
  to: "valid",
  registration_from: null,
  registration_to: null,
  before,
  after,
};
const span = { earliest: "2026-10-22T08:03:55Z", latest: "2026-11-21T08:04:31Z" };

export const prefixChangesExample: PrefixChangesRecord = {
  subject: { prefix: "193.0.0.0/21" },
  ...span,
  changes: { items: [item], skipped: [], next_cursor: null },
  meta: metaWithoutData,
};

export const asnChangesExample: AsnChangesRecord = {
  subject: { asn: 3333 },
  ...span,
  changes: {
    items: [{ ...item, change: "name_changed", prefix: null, origin: null, from: "RIPE-NCC", to: "RIPE-NCC-AS" }, item],
    skipped: [],
    next_cursor: null,
  },
  meta: metaWithoutData,
};
