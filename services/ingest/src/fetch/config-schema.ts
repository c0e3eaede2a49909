/** Settings of fetching, the same for the service, the one-process form and the command line. */

import Type, { type Static } from "typebox";

export const fetchConfigSchema = Type.Object({
  FETCH_CONTACT: Type.String({
    default: "",
    maxLength: 200,
    pattern: "^[ -~]*$",
    description: "URL or mail address that servers of sources are told in User-Agent: whom to ask when something is wrong",
  }),
  FETCH_CA_FILE: Type.String({
    default: "",
    description: "File of certificates (PEM) that are trusted beside the usual ones when sources are fetched",
  }),
});

export type FetchConfig = Static<typeof fetchConfigSchema>;
