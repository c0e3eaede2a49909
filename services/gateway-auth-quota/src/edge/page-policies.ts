/** Content security policies of pages and files that browsers open. */

const policyOf = (styles: string) =>
  `default-src 'none'; script-src 'self'; style-src ${styles}; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Allows only scripts, styles and requests of this origin: nothing inline, and no frames. */
export const pagePolicy = policyOf("'self'");

/** Also allows styles in attributes, which the API reference sets. */
export const inlineStylePolicy = policyOf("'self' 'unsafe-inline'");

/** For files that are not pages: a browser that opens one as a page runs and loads nothing. */
export const filePolicy = "default-src 'none'; frame-ancestors 'none'";
