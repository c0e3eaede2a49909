/** @netfacts/threads: threads that are started before they are needed, and threads with a low priority. */

export { lowerPriority } from "./lower-priority.ts";
export { SpareThread } from "./spare-thread.ts";
