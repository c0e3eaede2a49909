/** Subjects of requests: `nf.f1.<service>.<lane>`, where `f1` is the version of the frames; a pod serves an old and a new one during an upgrade. */

import type { Lane } from "../types.ts";
import { frameVersion } from "./frame-codec/index.ts";

export const lanes: readonly Lane[] = ["single", "batch"];

/** @param service a name of `[a-z0-9-]`, which is also the queue group of its responders. */
export function requestSubject(service: string, lane: Lane): string {
  return `nf.f${frameVersion}.${service}.${lane}`;
}
