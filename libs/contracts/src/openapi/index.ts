/** @netfacts/contracts/openapi: the routes as data, and the API documents that are generated from them and the record schemas. */

export { type Fact, type FactsOf, type From, factSources } from "../facts/fact.ts";
export { type RecordPage, type RecordPageName, recordPages } from "../facts/pages.ts";
export { adminRoutes } from "../routes/admin.ts";
export { dataRoutes } from "../routes/data.ts";
export { operatorRoutes, publicRoutes } from "../routes/index.ts";
export { ingestRoutes } from "../routes/ingest.ts";
export { keysPath } from "../routes/keys.ts";
export { plansPath } from "../routes/plans.ts";
export { profilesPath } from "../routes/profiles.ts";
export { commonProblems, type RouteAnswer, type RouteContent, type RouteDescription, type RouteParameter } from "../routes/route.ts";
export { CalendarDate, Timestamp } from "../schema.ts";
export { operatorDocument } from "./operator-document.ts";
export { publicDocument } from "./public-document.ts";
export type { Json } from "./schemas.ts";
