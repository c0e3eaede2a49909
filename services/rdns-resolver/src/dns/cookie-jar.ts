/** DNS cookies of one nameserver (RFC 7873): a secret that only it and we know, in its answers. */

import { randomBytes } from "node:crypto";

const clientBytes = 8;
const serverBytesMin = 8;
const serverBytesMax = 32;

/** `foreign`: the cookie is not ours. `missing`: the answer lacks the cookie that this nameserver uses. */
export type CookieVerdict = "fine" | "foreign" | "missing";

export class CookieJar {
  /** Our part, then the nameserver's. As long as the nameserver has given none, its answers need no cookie. */
  #cookie: Buffer = randomBytes(clientBytes);

  /** The cookie for a query. */
  get cookie(): Buffer {
    return this.#cookie;
  }

  /** Call when another machine may answer from now on. */
  forget(): void {
    this.#cookie = randomBytes(clientBytes);
  }

  /** @param cookie  the cookie of an answer; null: it has none. @param overTcp  the answer came over TCP, which cannot be forged. */
  judge(cookie: Buffer | null, overTcp: boolean): CookieVerdict {
    const own = this.#cookie;
    if (cookie === null && own.length === clientBytes) return "fine";
    const serverLength = cookie === null ? 0 : cookie.length - clientBytes;
    if (cookie !== null) {
      const isWhole = serverLength === 0 || (serverLength >= serverBytesMin && serverLength <= serverBytesMax);
      if (!isWhole || own.compare(cookie, 0, clientBytes, 0, clientBytes) !== 0) return "foreign";
    }
    if (cookie !== null && serverLength > 0) {
      // Copy it, so that the rest of its message need not be kept.
      if (!own.equals(cookie)) this.#cookie = Buffer.from(cookie);
      return "fine";
    }
    if (own.length === clientBytes) return "fine";
    if (!overTcp) return "missing";
    this.#cookie = own.subarray(0, clientBytes);
    return "fine";
  }
}
