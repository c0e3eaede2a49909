/** Watches the pointer of a bucket: hints of the server say when to read it. */

import { Events, type NatsConnection } from "@netfacts/messaging/nats-client";
import { type PointerWatch, type SnapshotPointer, watchReadings } from "@netfacts/snapshot";

/** Interval at which a watcher reads the pointer, even without hints. */
const watchIntervalMs = 5_000;
/** Delays of reads after a hint: a write becomes readable a moment later, most of all in a cluster. */
const hintDelaysMs = [0, 50, 200, 500];

/** Reads the pointer at once, at every hint, at every reconnect and every 5 s, and reports changes. */
export function watchPointer(
  nc: NatsConnection,
  hintSubject: string,
  read: () => Promise<SnapshotPointer | null>,
  listener: (pointer: SnapshotPointer) => void,
): PointerWatch {
  const readings = watchReadings(read, listener);
  let stopped = false;
  const look = (): void => void readings.look();
  const timers = new Set<NodeJS.Timeout>();
  const hints = nc.subscribe(hintSubject, {
    callback: () => {
      for (const delay of hintDelaysMs) {
        const timer = setTimeout(() => {
          timers.delete(timer);
          look();
        }, delay);
        timers.add(timer);
      }
    },
  });
  const interval = setInterval(look, watchIntervalMs);
  interval.unref();
  const status = nc.status();
  void (async () => {
    for await (const { type } of status) {
      if (stopped) return;
      if (type === Events.Reconnect) look();
    }
  })();
  look();
  return {
    look: readings.look,
    stop() {
      stopped = true;
      readings.stop();
      clearInterval(interval);
      for (const timer of timers) clearTimeout(timer);
      hints.unsubscribe();
    },
  };
}
