/**
 * Runs one abuse as a separate process, so that it does not delay the measuring process: `node abuser.ts ABUSE SECONDS KEY URL…`. Without
 * arguments, it prints the names of the abuses. Only for loopback; it ends by itself.
 */

import { abuses } from "../../test/support/abuses.ts";

const [abuse = "", secondsText = "", key = "", ...urls] = process.argv.slice(2);
const endsAt = performance.now() + Number(secondsText) * 1_000;
const run = abuses[abuse];
if (run === undefined) {
  console.log(Object.keys(abuses).join("\n"));
  process.exit(abuse === "" ? 0 : 1);
}
setTimeout(() => process.exit(0), Number(secondsText) * 1_000 + 2_000);
await run({ urls, key, share: 1, pauseMs: 0, dripMs: 1_000, isOver: () => performance.now() >= endsAt, tell: () => {} });
process.exit(0);
