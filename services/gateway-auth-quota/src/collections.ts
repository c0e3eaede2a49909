/** Garbage collection in a gateway, whose memory is mostly short-lived buffers of answers. */

import { setFlagsFromString } from "node:v8";

/**
 * Makes V8 release buffers mainly in collections of young objects. By default it also collects all objects for each 64 to 100 MiB of new
 * buffers, even if most were released: with long answers four times a second, in a third of the process's time. With this flag it does so
 * only when memory, including buffers, has grown in proportion to its use. Affects the whole process; call it early.
 */
export function collectBuffersYoung(): void {
  setFlagsFromString("--external-memory-accounted-in-global-limit");
}
