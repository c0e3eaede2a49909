/** Replay of update files onto a RIB. */

export { gapSecondsDefault, type Replayed, type ReplayInput, type ReplayOptions, replay } from "./replay.ts";
export { type ReplayedRoutes, type ReplayRoutesOptions, replayRoutes } from "./replay-routes.ts";
export type { EncodeAttributes, UpdateFileCounts, UpdatesReport } from "./update-run.ts";
