/** What must leave no process in a log line or a span, and how it is taken out of a text. */

/** API keys wherever they stand. The id stays, as it is no secret and tells which key it was. */
const keyText = /\bnf_(live|test)_([0-9A-HJKMNP-TV-Z]{8})_[0-9A-Za-z]+/g;
const bearerText = /\b(Bearer|Basic)(\s+)(?!nf_)[\w.~+/=-]{8,}/gi;
/** User and password of a URL. */
const userInfoText = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#"@]+@/gi;

/** The text without keys, credentials of an Authorization header, and passwords in URLs. */
export function withoutSecrets(text: string): string {
  return text.replace(keyText, "nf_$1_$2_[redacted]").replace(bearerText, "$1$2[redacted]").replace(userInfoText, "$1[redacted]@");
}
