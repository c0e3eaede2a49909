/** Operation `status`: the sections in service. The gateway has its route (`routes/about.ts`), which answers even if nothing is loaded. */

import { statusExample } from "../examples/status.ts";
import { StatusRecord, statusFacts } from "../records/status.ts";
import type { Codec } from "./codec.ts";
import { operation } from "./operation.ts";

export type StatusQuestion = Readonly<Record<string, never>>;

const question: Codec<StatusQuestion> = {
  encode: () => "",
  decode: ([text, ...rest]) => (text === "" && rest.length === 0 ? {} : null),
};

export const status = operation({
  name: "status",
  code: 4,
  service: "ip-routing",
  scope: null,
  record: StatusRecord,
  example: statusExample,
  page: { title: "Status", intro: "The data in service.", facts: statusFacts },
  question,
  units: () => 1,
  lists: [],
  listView: null,
  lookup: null,
});
