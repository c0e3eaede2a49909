/** The `meta` of the examples. */

import type { Meta } from "../meta.ts";

const allocations = { version: "2026-11-21", as_of: "2026-11-21T00:00:00Z", age_seconds: 32_402, stale: false };
const vrps = { version: "20261121T085012Z", as_of: "2026-11-21T08:50:12Z", age_seconds: 590, stale: false };
const routes = {
  version: "20261121.0855",
  as_of: "2026-11-21T08:55:00Z",
  age_seconds: 302,
  stale: false,
  peers_total: { ipv4: 355, ipv6: 340 },
  collectors: ["rrc00"],
};

const origin = { request_id: "01JD5T7Q9M3W8K2V6B4N1XCZPE", generated_at: "2026-11-21T09:00:02Z" };

/** `meta` of an answer that used no section. */
export const metaWithoutData: Meta = { ...origin, data: {}, warnings: [] };

/** `meta` of an answer that used routes, VRPs and allocations. */
export const metaWithData: Meta = { ...origin, data: { allocations, routes, vrps }, warnings: [] };

/** `meta` of an answer that used routes and VRPs. */
export const metaWithRoutes: Meta = { ...origin, data: { routes, vrps }, warnings: [] };

/** `meta` of an answer that used only VRPs. */
export const metaWithVrps: Meta = { ...origin, data: { vrps }, warnings: [] };
