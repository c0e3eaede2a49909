/** Watches whether broadcasts of changes can reach us: the connection is up, and the broker answers. */

import type { ChangeChannel } from "./surface.ts";

const probeMs = 500;
/** A broker that does not answer within this time may have stopped, although its connection is still open. */
const answerMs = 1_000;

export class ChannelWatch {
  readonly #listener: (hearsChanges: boolean) => void;
  readonly #connection: { stop(): unknown };
  readonly #timer: NodeJS.Timeout | null;
  #up = true;
  #answers = true;
  #probing = false;

  /** @param listener  called at once, at every change, and after every probe. */
  constructor(channel: ChangeChannel, listener: (hearsChanges: boolean) => void) {
    this.#listener = listener;
    this.#connection = channel.watchConnection((up) => {
      this.#up = up;
      // A new connection shows that the broker answers.
      if (up) this.#answers = true;
      this.#tell();
    });
    const { probe } = channel;
    this.#timer = probe === undefined ? null : setInterval(() => void this.#look((msMax) => probe.call(channel, msMax)), probeMs).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    void this.#connection.stop();
  }

  async #look(probe: (msMax: number) => Promise<boolean>): Promise<void> {
    if (this.#probing || !this.#up) return;
    this.#probing = true;
    this.#answers = await probe(answerMs).catch(() => false);
    this.#probing = false;
    this.#tell();
  }

  #tell(): void {
    this.#listener(this.#up && this.#answers);
  }
}
