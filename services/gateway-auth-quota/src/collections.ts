/** How the engine collects garbage in a gateway, whose memory is mostly short-lived buffers: answers on their way. */

import { setFlagsFromString } from "node:v8";

/**
 * Lets collections of young objects release buffers. By default V8 also collects all objects once for each 64 to 100 MiB of new buffers, whatever was
 * released meanwhile: four times a second beside long answers, with a third of the process's time. Now it does so when memory, buffers
 * included, has grown in proportion to what was in use. For the whole process; call it before it has much to collect.
 */
export function collectBuffersYoung(): void {
  setFlagsFromString("--external-memory-accounted-in-global-limit");
}
