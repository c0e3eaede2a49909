/** The connection of a service's process to NATS, with its metrics, spans and log lines. */

import { type Lane, type Messaging, type MessagingEvents, seldom } from "@netfacts/messaging";
import { type ConnectOptions, createNatsMessaging, NatsSettingsError, natsAccessOf } from "@netfacts/messaging/nats";
import type { BusConfig } from "./bus-config.ts";
import { type BusMetrics, createBusMetrics } from "./bus-metrics.ts";
import { BusState } from "./bus-state.ts";
import { ConfigError } from "./config.ts";
import { measureCredentials } from "./credential-expiry.ts";
import type { Logger } from "./logger.ts";
import type { ServiceContext } from "./service.ts";

export { type BusConfig, busConfigSchema } from "./bus-config.ts";

/** The options of a connection from the settings of a service; plain data, also for another thread. */
export function natsConnection(name: string, config: BusConfig): Pick<ConnectOptions, "servers" | "name" | "access"> {
  return { servers: config.NATS_URL, name, access: natsAccessOf(config) };
}

/**
 * Connects; waits as long as there is no server. Closes when the service stops, after its app.
 *
 * @throws ConfigError for an invalid URL, and for settings that cannot be used together.
 */
export async function openBus(service: string, config: BusConfig, context: ServiceContext<unknown>): Promise<Messaging> {
  const { log, metrics, tracing, onStop } = context;
  measureCredentials(metrics, config);
  const state = new BusState(log, context.explain);
  state.begins();
  const connecting = createNatsMessaging({
    ...natsConnection(service, config),
    tracing,
    events: busEvents(createBusMetrics(metrics), log, state),
    onWaiting: (waiting) => state.waits(waiting),
    onRefused: (refusal) => state.refused(refusal),
    onError: (what, cause) => log.error({ err: cause }, what),
  });
  const messaging = await connecting.catch((error: unknown) => {
    throw error instanceof NatsSettingsError ? new ConfigError(error.faults) : error;
  });
  onStop(() => {
    state.stop();
    return messaging.close();
  });
  return messaging;
}

function busEvents(metrics: BusMetrics, log: Logger, state: BusState): MessagingEvents {
  const { connected, rightsMissing, ways, framesServed, itemsServed, framesRefused, retried, dropped, failed, broadcastsRefused } = metrics;
  const tellMalformed = seldom((lane: Lane) =>
    log.warn({ lane }, "malformed request frame; an error was returned to its sender. Further ones are only counted for a minute"),
  );
  return {
    frameSent(to, lane, items, bytes) {
      const way = ways.of(to, lane);
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
      tellMalformed(lane);
    },
    broadcastsAwaited: (subject) => broadcastsRefused.inc({ subject }, 0),
    broadcastRefused: (subject) => broadcastsRefused.inc({ subject }),
    framesInFlight(to, lane, frames) {
      ways.of(to, lane).inFlight = frames;
    },
    itemsRetried: (to, lane, reason, items) => retried.inc({ to, lane, reason }, items),
    repliesDropped: (reason, items) => dropped.inc({ reason }, items),
    requestFailed: (to, lane, code) => failed.inc({ to, lane, code }),
    notPermitted(text) {
      rightsMissing.set({}, 1);
      state.notPermitted(text);
    },
    connection(up) {
      connected.set({}, up ? 1 : 0);
      if (up) rightsMissing.set({}, 0);
      state.changed(up);
    },
  };
}
