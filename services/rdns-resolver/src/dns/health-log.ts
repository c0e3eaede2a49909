/** Logs when a nameserver stops and begins to answer. One that changes all the time, such as behind a path that loses packets, gets a line in ten minutes. */

/** Lines about one nameserver until the log only counts its changes: its start and three interruptions. */
const linesMax = 7;

/** Time for which changes are counted. After such a time without a change, each one is logged again. */
const periodMs = 600_000;

/** The part of a logger that it uses. */
export interface HealthLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

interface Recent {
  up: boolean;
  lines: number;
  /** Changes that have no line yet. */
  counted: number;
}

/** @returns what to call with each change of a nameserver. It keeps only nameservers that changed in the last periods. */
export function healthLog(log: HealthLogger): (server: string, up: boolean) => void {
  const recents = new Map<string, Recent>();

  const tell = (server: string, up: boolean, counts: object) => {
    if (up) log.info({ server, ...counts }, "nameserver answers");
    else log.warn({ server, ...counts }, "nameserver does not answer and is probed until it does. Check that it runs and can be reached");
  };

  const endPeriodLater = (server: string, recent: Recent) => {
    const endPeriod = () => {
      if (recent.counted === 0) {
        recents.delete(server);
        return;
      }
      tell(server, recent.up, { changes: recent.counted });
      recent.counted = 0;
      endPeriodLater(server, recent);
    };
    setTimeout(endPeriod, periodMs).unref();
  };

  return (server, up) => {
    let recent = recents.get(server);
    if (recent === undefined) {
      recent = { up, lines: 0, counted: 0 };
      recents.set(server, recent);
      endPeriodLater(server, recent);
    }
    recent.up = up;
    if (recent.lines < linesMax) {
      recent.lines += 1;
      tell(server, up, {});
      return;
    }
    if (recent.lines === linesMax) {
      recent.lines += 1;
      log.warn(
        { server },
        "nameserver answers with interruptions. Check its load and the network. Its changes are only counted for 10 minutes",
      );
    }
    recent.counted += 1;
  };
}
