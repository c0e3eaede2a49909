/**
 * Subjects of requests: `nf.f<version>.<service>.<lane>` reaches any copy of a service; with `.<copy>` at the end, that copy. Both lanes have version
 * 1 of the frames, the batch lane also version 2. `nf.c1.<service>` calls all copies.
 */

import type { Lane } from "../types.ts";
import type { FrameVersion } from "./frame-codec/index.ts";

/** Lanes and versions that a responder serves. */
export const servedLanes: readonly { readonly lane: Lane; readonly version: FrameVersion }[] = [
  { lane: "single", version: 1 },
  { lane: "batch", version: 1 },
  { lane: "batch", version: 2 },
];

/**
 * @param service a name of `[a-z0-9-]`, which is also the queue group of its responders.
 * @param copy    its token of `[A-Za-z0-9_-]`; empty: any copy.
 */
export function requestSubject(service: string, lane: Lane, version: FrameVersion, copy = ""): string {
  return copy === "" ? `nf.f${version}.${service}.${lane}` : `nf.f${version}.${service}.${lane}.${copy}`;
}

/** All copies of the service answer an empty message to this subject. */
export function callSubject(service: string): string {
  return `nf.c1.${service}`;
}

/** An answer names the copy that it comes from by this subject, in the place of a reply subject. Nobody publishes to it. */
export function copySubject(service: string, copy: string): string {
  return `nf.c1.${service}.${copy}`;
}
