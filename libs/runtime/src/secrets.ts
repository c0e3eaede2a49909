/** Removes secrets from texts: they must not leave a process in a log line or a span. */

/** API keys anywhere in a text. The id is kept: it is not a secret, and identifies the key. */
const keyText = /\bnf_(live|test)_([0-9A-HJKMNP-TV-Z]{8})_[0-9A-Za-z]+/g;
const bearerText = /\b(Bearer|Basic)(\s+)(?!nf_)[\w.~+/=-]{8,}/gi;
/** User and password of a URL. Without the scheme: a search for one takes time by the square of a text that a caller sent. */
const userInfoText = /:\/\/[^\s/?#"@]+@/g;

/** Fields whose values are always credentials, whatever they look like. */
const secretFields = new Set(["authorization", "cookie", "secret", "password", "pepper", "token"]);
const secretField = new RegExp(`"(?:${[...secretFields].join("|")})":`);

/**
 * A quick test: every text with a secret matches it. Few log lines match, and the test costs half of all the patterns above. If you add a pattern,
 * add its mark here.
 */
const suspicious = new RegExp(`nf_(?:live|test)_\\w{8}_\\w|[Bb][Ee][Aa][Rr][Ee][Rr]\\s|[Bb][Aa][Ss][Ii][Cc]\\s|://|${secretField.source}`);

/** The text without keys, credentials of an Authorization header, and passwords in URLs. */
export function withoutSecrets(text: string): string {
  if (!suspicious.test(text)) return text;
  return text.replace(keyText, "nf_$1_$2_[redacted]").replace(bearerText, "$1$2[redacted]").replace(userInfoText, "://[redacted]@");
}

/** A line of JSON without the secrets that `withoutSecrets` removes, and without the values of credential fields at any depth. */
export function lineWithoutSecrets(line: string): string {
  if (!suspicious.test(line)) return line;
  // Searches the text: inspecting each object before it is written costs more than the rest of a line.
  const kept = secretField.test(line) ? `${JSON.stringify(JSON.parse(line, censored))}\n` : line;
  return withoutSecrets(kept);
}

function censored(name: string, value: unknown): unknown {
  return secretFields.has(name) ? "[redacted]" : value;
}
