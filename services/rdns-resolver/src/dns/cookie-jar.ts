/** DNS cookies of one nameserver (RFC 7873): its answers carry what only it and we know. */

import { randomBytes } from "node:crypto";

const clientBytes = 8;
const serverBytesMin = 8;
const serverBytesMax = 32;

/** `foreign`: not an answer to us. `missing`: without the cookie that this nameserver gives. */
export type CookieVerdict = "fine" | "foreign" | "missing";

export class CookieJar {
  #client = randomBytes(clientBytes);
  /** Null while it gives none: then its answers need none. */
  #server: Buffer | null = null;

  /** What a query carries. */
  get cookie(): Buffer {
    return this.#server === null ? this.#client : Buffer.concat([this.#client, this.#server]);
  }

  /** Another machine may answer from now on. */
  forget(): void {
    this.#client = randomBytes(clientBytes);
    this.#server = null;
  }

  /** @param cookie  of an answer with EDNS; null where it has none. @param overTcp  nobody forges a connection: its word counts. */
  judge(cookie: Buffer | null, overTcp: boolean): CookieVerdict {
    const serverLength = cookie === null ? 0 : cookie.length - clientBytes;
    if (cookie !== null) {
      const isWhole = serverLength === 0 || (serverLength >= serverBytesMin && serverLength <= serverBytesMax);
      if (!isWhole || !this.#client.equals(cookie.subarray(0, clientBytes))) return "foreign";
    }
    if (cookie !== null && serverLength > 0) {
      // A copy: the rest of its message need not be kept.
      this.#server = Buffer.from(cookie.subarray(clientBytes));
      return "fine";
    }
    if (this.#server === null) return "fine";
    if (!overTcp) return "missing";
    this.#server = null;
    return "fine";
  }
}
