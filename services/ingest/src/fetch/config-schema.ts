/** Settings of fetching, the same for the service, the one-process form and the command line. */

import Type, { type Static } from "typebox";

export const fetchConfigSchema = Type.Object({
  FETCH_CONTACT: Type.String({
    default: "",
    maxLength: 200,
    pattern: "^[ -~]*$",
    allowed: "printable ASCII characters",
    description: "Contact URL or email address, sent in the User-Agent header to the servers of sources",
  }),
  FETCH_CA_FILE: Type.String({
    default: "",
    description: "File with additional trusted certificates (PEM) for fetching sources",
  }),
});

export type FetchConfig = Static<typeof fetchConfigSchema>;
