/** @netfacts/threads: threads that are started before they are needed. */

export { SpareThread } from "./spare-thread.ts";
