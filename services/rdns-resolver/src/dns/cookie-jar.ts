/** DNS cookies of one nameserver (RFC 7873): its answers carry what only it and we know. */

import { randomBytes } from "node:crypto";

const clientBytes = 8;
const serverBytesMin = 8;
const serverBytesMax = 32;

/** `foreign`: not an answer to us. `missing`: without the cookie that this nameserver gives. */
export type CookieVerdict = "fine" | "foreign" | "missing";

export class CookieJar {
  /** Our part, and behind it that of the nameserver, which gives none as long as there is no such part: then its answers need none. */
  #cookie: Buffer = randomBytes(clientBytes);

  /** What a query carries. */
  get cookie(): Buffer {
    return this.#cookie;
  }

  /** Another machine may answer from now on. */
  forget(): void {
    this.#cookie = randomBytes(clientBytes);
  }

  /** @param cookie  of an answer with EDNS; null where it has none. @param overTcp  nobody forges a connection: its word counts. */
  judge(cookie: Buffer | null, overTcp: boolean): CookieVerdict {
    const own = this.#cookie;
    if (cookie === null && own.length === clientBytes) return "fine";
    const serverLength = cookie === null ? 0 : cookie.length - clientBytes;
    if (cookie !== null) {
      const isWhole = serverLength === 0 || (serverLength >= serverBytesMin && serverLength <= serverBytesMax);
      if (!isWhole || own.compare(cookie, 0, clientBytes, 0, clientBytes) !== 0) return "foreign";
    }
    if (cookie !== null && serverLength > 0) {
      // A copy: the rest of its message need not be kept.
      if (!own.equals(cookie)) this.#cookie = Buffer.from(cookie);
      return "fine";
    }
    if (own.length === clientBytes) return "fine";
    if (!overTcp) return "missing";
    this.#cookie = own.subarray(0, clientBytes);
    return "fine";
  }
}
