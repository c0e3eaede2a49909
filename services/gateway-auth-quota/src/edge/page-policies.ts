/** Content security policies of what browsers open. */

const policyOf = (styles: string) =>
  `default-src 'none'; script-src 'self'; style-src ${styles}; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Scripts, styles and requests of this origin only: nothing inline, and no frame. */
export const pagePolicy = policyOf("'self'");

/** The same for pages that set styles in attributes, as the API reference does. */
export const inlineStylePolicy = policyOf("'self' 'unsafe-inline'");

/** What is no page may be opened as one, and then does nothing. */
export const filePolicy = "default-src 'none'; frame-ancestors 'none'";
