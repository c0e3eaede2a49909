/** @netfacts/messaging/nats: messaging between processes. Apart from the rest, so that one process alone never loads it. */

export type { ConnectOptions } from "./connect.ts";
export { createNatsMessaging } from "./nats-messaging.ts";
