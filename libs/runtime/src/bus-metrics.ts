/** Metrics of a connection to NATS. */

import type { Lane } from "@netfacts/messaging";
import type { Count, Counter, Metrics } from "./metrics.ts";

/** The counters of frames to one service, looked up once. */
interface Way {
  readonly to: string;
  readonly lane: Lane;
  readonly frames: Count;
  readonly items: Count;
  readonly bytes: Count;
  inFlight: number;
}

/** What is sent, by service and lane. */
class Ways {
  readonly #frames: Counter<"to" | "lane">;
  readonly #items: Counter<"to" | "lane">;
  readonly #bytes: Counter<"to" | "lane">;
  readonly #ways = new Map<string, Way>();

  constructor(metrics: Metrics) {
    const labelNames = ["to", "lane"] as const;
    this.#frames = metrics.counter({ name: "netfacts_frames_sent_total", help: "Request frames sent", labelNames });
    this.#items = metrics.counter({ name: "netfacts_items_sent_total", help: "Items of request frames sent", labelNames });
    this.#bytes = metrics.counter({ name: "netfacts_frame_sent_bytes_total", help: "Bytes of request frames sent", labelNames });
    metrics.gauge({
      name: "netfacts_frames_in_flight",
      help: "Request frames waiting for responses",
      labelNames,
      collect: (gauge) => {
        for (const { to, lane, inFlight } of this.#ways.values()) gauge.set({ to, lane }, inFlight);
      },
    });
  }

  of(to: string, lane: Lane): Way {
    const key = `${to} ${lane}`;
    let way = this.#ways.get(key);
    if (way === undefined) {
      const labels = { to, lane };
      way = {
        ...labels,
        frames: this.#frames.of(labels),
        items: this.#items.of(labels),
        bytes: this.#bytes.of(labels),
        inFlight: 0,
      };
      this.#ways.set(key, way);
    }
    return way;
  }
}

export type BusMetrics = ReturnType<typeof createBusMetrics>;

export function createBusMetrics(metrics: Metrics) {
  const made = {
    connected: metrics.gauge({ name: "netfacts_nats_connected", help: "1 while connected to NATS" }),
    rightsMissing: metrics.gauge({
      name: "netfacts_nats_rights_missing",
      help: "1 if NATS has refused this process a subject since it connected",
    }),
    ways: new Ways(metrics),
    framesServed: metrics.counter({ name: "netfacts_frames_served_total", help: "Request frames received", labelNames: ["lane"] }),
    itemsServed: metrics.counter({
      name: "netfacts_items_served_total",
      help: "Items of request frames received",
      labelNames: ["lane"],
    }),
    framesRefused: metrics.counter({
      name: "netfacts_frames_refused_total",
      help: "Request frames that could not be read",
      labelNames: ["lane"],
    }),
    retried: metrics.counter({
      name: "netfacts_items_retried_total",
      help: "Items sent a second time, by reason",
      labelNames: ["to", "lane", "reason"],
    }),
    dropped: metrics.counter({
      name: "netfacts_replies_dropped_total",
      help: "Replies received after their request had ended",
      labelNames: ["reason"],
    }),
    failed: metrics.counter({
      name: "netfacts_requests_unanswered_total",
      help: "Requests to other services that ended without a reply",
      labelNames: ["to", "lane", "code"],
    }),
    broadcastsRefused: metrics.counter({
      name: "netfacts_broadcasts_refused_total",
      help: "Broadcasts that could not be read",
      labelNames: ["subject"],
    }),
  };
  made.connected.set({}, 0);
  made.rightsMissing.set({}, 0);
  // Starts at 0: a rate does not see the first increase of a series that begins with it.
  for (const lane of ["single", "batch"] satisfies Lane[]) made.framesRefused.inc({ lane }, 0);
  return made;
}
