/** The batches that are in progress at a time at this gateway: a quarter of the places is sure to each key, if need be in place of another key's batch. */

import { ProblemError } from "@netfacts/contracts";
import { Shares } from "@netfacts/messaging";
import { shortageOf } from "../../edge/shortage.ts";
import type { VerifiedKey } from "../../keys/index.ts";
import type { GatewayMetrics } from "../../metrics.ts";

/** What one batch takes. */
interface Place {
  readonly bucket: string;
  /** Gives the place back, once. */
  readonly free: () => void;
  /** Ends the batch; its batch says how. */
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
   * Takes a place: one that is free, or the last of the key that has most beyond its quarter, where this one has less.
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
