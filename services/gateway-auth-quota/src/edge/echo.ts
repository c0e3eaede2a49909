/** Input of callers in answers and logs: bounded, escaped, and without keys. */

/** Characters of a value that are quoted in an answer. */
const valueCharsMax = 80;

/** Characters of a path that are shown in an answer or a log line. */
const pathCharsMax = 256;

const keyText = /nf_(?:live|test)_[0-9A-Za-z_]*/gi;

/** Names under which people put keys into URLs. */
const keyParameter = /^(?:api[-_]?key|key|token|access[-_]?token|auth|authorization|bearer|x-api-key|secret)$/i;

const redacted = "[redacted]";

/** The value as part of a sentence: printable ASCII, the rest as `\u…`, at most 80 characters. */
export function quoteValue(value: string): string {
  const bounded = value.length > valueCharsMax ? `${value.slice(0, valueCharsMax)}…` : value;
  return bounded.replace(keyText, redacted).replace(/[^ -~…]|[<>"'&\\]/g, escapeUnit);
}

function escapeUnit(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The path of a URL as a URI reference, without its query: at most 256 characters, none that a URI cannot have. */
export function echoPath(url: string): string {
  const path = url.split(/[?#]/, 1)[0] ?? "";
  const bounded = path.slice(0, pathCharsMax);
  return (holdsKey(bounded) ? redacted : bounded).replace(/[^A-Za-z0-9\-._~!$&()*+,;=:@/%]/g, (char) =>
    encodeURIComponent(char.toWellFormed()),
  );
}

/** Nearly every URL: no query, nothing to escape, no `_`, which every key has, and no `%`, which could hide a key. */
const plainUrl = new RegExp(`^[A-Za-z0-9\\-.~!$&()*+,;=:@/]{1,${pathCharsMax}}$`);

/** A URL as log lines show it. A query that could hold a key is left out. */
export function logUrl(url: string): string {
  if (plainUrl.test(url)) return url;
  const at = url.indexOf("?");
  const path = echoPath(url);
  if (at < 0) return path;
  const query = url.slice(at + 1);
  if (queryHoldsKey(query)) return `${path}?${redacted}`;
  return `${path}?${query.slice(0, pathCharsMax).replace(/[^!-~]/g, "?")}`;
}

/** Whether a raw query string names a parameter for keys, or has the text of a Netfacts key anywhere. */
export function queryHoldsKey(query: string): boolean {
  if (holdsKey(query)) return true;
  return query.split("&").some((pair) => keyParameter.test(decodeLeniently(pair.split("=", 1)[0] ?? "")));
}

function holdsKey(text: string): boolean {
  return text.search(keyText) >= 0 || decodeLeniently(text).search(keyText) >= 0;
}

function decodeLeniently(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // The percent-encoding is invalid: decode its valid ASCII parts.
    return text.replace(/%([0-7][0-9A-F])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
}
