/** The connection of a service's process to NATS: with its metrics, its spans and the lines that tell of it. */

import type { Lane, Messaging, MessagingEvents } from "@netfacts/messaging";
import { createNatsMessaging } from "@netfacts/messaging/nats";
import Type, { type Static } from "typebox";
import { ConfigError } from "./config.ts";
import type { Logger } from "./logger.ts";
import type { Count, Metrics } from "./metrics.ts";
import type { ServiceFrame } from "./service.ts";

/** Settings of every service that talks to others. */
export const busConfigSchema = Type.Object({
  NATS_URL: Type.String({
    default: "nats://127.0.0.1:4222",
    minLength: 1,
    description: "Servers of one NATS cluster, separated by commas: nats://user:password@host:4222",
  }),
});

export type BusConfig = Static<typeof busConfigSchema>;

/**
 * Connects, waiting as long as there is no server, and closes at the service's stop, after its app.
 *
 * @throws ConfigError for a URL that is none.
 */
export async function openBus(service: string, { NATS_URL }: BusConfig, frame: ServiceFrame<unknown>): Promise<Messaging> {
  const { log, metrics, tracing, onStop } = frame;
  const connecting = createNatsMessaging({
    servers: NATS_URL,
    name: service,
    tracing,
    events: busEvents(metrics, log),
    onWaiting: ({ servers, waitedMs }) =>
      log.warn({ servers, waited_ms: waitedMs }, "NATS is unavailable; the service starts when it becomes available"),
    onError: (what, cause) => log.error({ err: cause }, what),
  });
  const messaging = await connecting.catch((error: unknown) => {
    throw error instanceof TypeError ? new ConfigError([`NATS_URL: ${error.message}`]) : error;
  });
  onStop(() => messaging.close());
  return messaging;
}

/** What is counted with every frame to one service, found once. */
interface Way {
  readonly to: string;
  readonly lane: Lane;
  readonly frames: Count;
  readonly items: Count;
  readonly bytes: Count;
  inFlight: number;
}

function busEvents(metrics: Metrics, log: Logger): MessagingEvents {
  const connected = metrics.gauge({ name: "netfacts_nats_connected", help: "1 while connected to NATS" });
  const framesSent = metrics.counter({ name: "netfacts_frames_sent_total", help: "Request frames sent", labelNames: ["to", "lane"] });
  const itemsSent = metrics.counter({
    name: "netfacts_items_sent_total",
    help: "Items of request frames sent",
    labelNames: ["to", "lane"],
  });
  const bytesSent = metrics.counter({
    name: "netfacts_frame_sent_bytes_total",
    help: "Bytes of request frames sent",
    labelNames: ["to", "lane"],
  });
  const framesServed = metrics.counter({ name: "netfacts_frames_served_total", help: "Request frames received", labelNames: ["lane"] });
  const itemsServed = metrics.counter({
    name: "netfacts_items_served_total",
    help: "Items of request frames received",
    labelNames: ["lane"],
  });
  const framesRefused = metrics.counter({
    name: "netfacts_frames_refused_total",
    help: "Request frames that could not be read",
    labelNames: ["lane"],
  });
  metrics.gauge({
    name: "netfacts_frames_in_flight",
    help: "Request frames waiting for responses",
    labelNames: ["to", "lane"],
    collect: (gauge) => {
      for (const { to, lane, inFlight } of ways.values()) gauge.set({ to, lane }, inFlight);
    },
  });
  const ways = new Map<string, Way>();
  const wayOf = (to: string, lane: Lane): Way => {
    const key = `${to} ${lane}`;
    let way = ways.get(key);
    if (way === undefined) {
      const labels = { to, lane };
      way = { to, lane, frames: framesSent.of(labels), items: itemsSent.of(labels), bytes: bytesSent.of(labels), inFlight: 0 };
      ways.set(key, way);
    }
    return way;
  };
  const retried = metrics.counter({
    name: "netfacts_items_retried_total",
    help: "Items sent a second time, by reason",
    labelNames: ["to", "lane", "reason"],
  });
  const dropped = metrics.counter({
    name: "netfacts_replies_dropped_total",
    help: "Replies received after their request had ended",
    labelNames: ["reason"],
  });
  const failed = metrics.counter({
    name: "netfacts_requests_unanswered_total",
    help: "Requests to other services that ended without a reply",
    labelNames: ["to", "lane", "code"],
  });
  return {
    frameSent(to, lane, items, bytes) {
      const way = wayOf(to, lane);
      way.frames.inc();
      way.items.inc(items);
      way.bytes.inc(bytes);
    },
    frameServed(_service, lane, items) {
      framesServed.inc({ lane });
      itemsServed.inc({ lane }, items);
    },
    frameRefused(_service, lane) {
      framesRefused.inc({ lane });
      log.warn({ lane }, "malformed request frame; an error was returned to its sender");
    },
    framesInFlight(to, lane, frames) {
      wayOf(to, lane).inFlight = frames;
    },
    itemsRetried: (to, lane, reason, items) => retried.inc({ to, lane, reason }, items),
    repliesDropped: (reason, items) => dropped.inc({ reason }, items),
    requestFailed: (to, lane, code) => failed.inc({ to, lane, code }),
    connection(up) {
      connected.set({}, up ? 1 : 0);
      if (up) log.info("connected to NATS");
      else log.warn("connection to NATS lost; reconnecting until it succeeds. Check that the servers in NATS_URL can be reached");
    },
  };
}
