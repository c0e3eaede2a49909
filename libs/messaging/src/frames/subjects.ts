/** Subjects of requests: `nf.f<version>.<service>.<lane>`. Both lanes have version 1 of the frames, the batch lane version 2 beside it. */

import type { Lane } from "../types.ts";
import type { FrameVersion } from "./frame-codec/index.ts";

/** What a responder serves. */
export const servedLanes: readonly { readonly lane: Lane; readonly version: FrameVersion }[] = [
  { lane: "single", version: 1 },
  { lane: "batch", version: 1 },
  { lane: "batch", version: 2 },
];

/** @param service a name of `[a-z0-9-]`, which is also the queue group of its responders. */
export function requestSubject(service: string, lane: Lane, version: FrameVersion): string {
  return `nf.f${version}.${service}.${lane}`;
}
