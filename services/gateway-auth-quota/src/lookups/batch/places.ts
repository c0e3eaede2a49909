/** Places for the batches in progress at this gateway. Each key is sure of a quarter of them: if none is free, a batch of another key ends. */

import { ProblemError } from "@netfacts/contracts";
import { Shares } from "@netfacts/messaging";
import { shortageOf } from "../../edge/shortage.ts";
import type { VerifiedKey } from "../../keys/index.ts";
import type { GatewayMetrics } from "../../metrics.ts";

/** The place of one batch. */
interface Place {
  readonly bucket: string;
  /** Gives the place back, once. */
  readonly free: () => void;
  /** Ends the batch; set by the batch itself. */
  takeBack: (problem: ProblemError) => void;
}

export class BatchPlaces {
  readonly #shares: Shares;
  readonly #metrics: Pick<GatewayMetrics, "shortages">;
  /** In the order in which their batches began. */
  readonly #taken = new Set<Place>();

  constructor(max: number, metrics: Pick<GatewayMetrics, "shortages" | "watchPlaces">) {
    this.#shares = new Shares(max, "taken back");
    this.#metrics = metrics;
    metrics.watchPlaces("batches", this.#shares);
  }

  /**
   * Takes a free place. If there is none and the key has less than its quarter, the newest batch of the key that is most beyond its own ends.
   *
   * @throws ProblemError `temporarily_overloaded`.
   */
  take({ bucket }: Pick<VerifiedKey, "bucket">): Place {
    if (!this.#shares.mayEnter(bucket) && !this.#shares.hasQuarter(bucket)) this.#takeBack();
    const share = this.#shares.enter(bucket);
    if (share === null) {
      const shortage = shortageOf(this.#shares, bucket);
      this.#metrics.shortages("batches", shortage).inc();
      const detail =
        shortage === "full"
          ? "Too many batches are in progress."
          : "Too many batches are in progress, and the key already has its share of them at this gateway.";
      throw new ProblemError("temporarily_overloaded", { detail });
    }
    const place: Place = {
      bucket,
      free: () => {
        if (this.#taken.delete(place)) this.#shares.leave(share);
      },
      takeBack: () => {},
    };
    this.#taken.add(place);
    return place;
  }

  #takeBack(): void {
    const bucket = this.#shares.surplus();
    const last = bucket === null ? undefined : [...this.#taken].findLast((place) => place.bucket === bucket);
    if (last === undefined) return;
    this.#metrics.shortages("batches", "surplus").inc();
    last.free();
    const detail = "Another key needs the place of this batch. Send the items without a result again.";
    last.takeBack(new ProblemError("temporarily_overloaded", { detail }));
  }
}
