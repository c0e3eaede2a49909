/** Messaging over NATS. */

import { FramedMessaging } from "../frames/framed-messaging.ts";
import type { MessagingOptions } from "../options.ts";
import { traced } from "../traced-messaging.ts";
import type { Messaging } from "../types.ts";
import { type ConnectOptions, connect } from "./connect.ts";
import { inboxPrefix } from "./inbox.ts";
import { NatsLink, type NatsLinkOptions } from "./link.ts";

/** A frozen server is detected within 600 ms. Messages here are short, so that no answer to a ping waits behind a long one. */
const pingMs = 200;

/**
 * Resolves with the first connection, however long that takes; afterwards it reconnects by itself after every loss.
 *
 * @throws TypeError for an invalid URL.
 */
export async function createNatsMessaging(
  options: ConnectOptions & MessagingOptions & Pick<NatsLinkOptions, "renewMs">,
): Promise<Messaging> {
  const onError = options.onError ?? (() => {});
  const link = new NatsLink(await connect({ pingMs, ...options }), {
    onError,
    events: options.events ?? {},
    inbox: inboxPrefix(options.name),
    renewMs: options.renewMs,
  });
  const messaging = new FramedMessaging(link, options);
  return options.tracing == null ? messaging : traced(messaging, options.tracing);
}
