/** @netfacts/threads: threads that are started before they are needed, and threads that let others go first. */

export { lowerPriority } from "./lower-priority.ts";
export { SpareThread } from "./spare-thread.ts";
