/** Replay of update files onto a RIB. */

export { gapSecondsDefault, type Replayed, type ReplayInput, type ReplayOptions, replay, type UpdatesReport } from "./replay.ts";
