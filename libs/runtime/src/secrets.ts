/** What must leave no process in a log line or a span, and how it is taken out of a text. */

/** API keys wherever they stand. The id stays, as it is no secret and tells which key it was. */
const keyText = /\bnf_(live|test)_([0-9A-HJKMNP-TV-Z]{8})_[0-9A-Za-z]+/g;
const bearerText = /\b(Bearer|Basic)(\s+)(?!nf_)[\w.~+/=-]{8,}/gi;
/** User and password of a URL. */
const userInfoText = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#"@]+@/gi;

/** Credentials by the name of their field, whatever they look like. */
const secretFields = new Set(["authorization", "cookie", "secret", "password", "pepper", "token"]);
const secretField = new RegExp(`"(?:${[...secretFields].join("|")})":`);

/**
 * What every text has that something is to be taken out of. Nearly no line of a log has it, and one look costs half of all the
 * patterns above. Whoever adds a pattern adds what gives it away.
 */
const suspicious = new RegExp(`nf_(?:live|test)_\\w{8}_\\w|[Bb][Ee][Aa][Rr][Ee][Rr]\\s|[Bb][Aa][Ss][Ii][Cc]\\s|://|${secretField.source}`);

/** The text without keys, credentials of an Authorization header, and passwords in URLs. */
export function withoutSecrets(text: string): string {
  if (!suspicious.test(text)) return text;
  const kept = text.replace(keyText, "nf_$1_$2_[redacted]").replace(bearerText, "$1$2[redacted]");
  // Most texts have no URL, and the pattern is slow to find that out.
  return kept.includes("://") ? kept.replace(userInfoText, "$1[redacted]@") : kept;
}

/** A line of JSON without what `withoutSecrets` takes out, and without the values of fields for credentials at any depth. */
export function lineWithoutSecrets(line: string): string {
  if (!suspicious.test(line)) return line;
  // Told by the text: to look into each object before it is written costs more than all the rest of a line.
  const kept = secretField.test(line) ? `${JSON.stringify(JSON.parse(line, censored))}\n` : line;
  return withoutSecrets(kept);
}

function censored(name: string, value: unknown): unknown {
  return secretFields.has(name) ? "[redacted]" : value;
}
