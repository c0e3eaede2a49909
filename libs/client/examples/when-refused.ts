/** How a program handles errors: which it can fix, which need a wait, and which its operator must know of. */

import { NetfactsClient, NetfactsProblem, NetfactsUnreachable } from "@netfacts/client";

const netfacts = new NetfactsClient({
  url: process.env.NETFACTS_URL ?? "http://127.0.0.1:8080",
  key: process.env.NETFACTS_KEY ?? "",
  retry: { attemptsMax: 3, waitSecondsMax: 10 },
});

try {
  console.log((await netfacts.prefix(process.argv[2] ?? "193.0.6.139/21")).prefix);
} catch (failure) {
  if (failure instanceof NetfactsProblem && failure.isQuota)
    console.log(`the quota is used up; ${failure.retryAfterSeconds} s until next month`);
  else if (failure instanceof NetfactsProblem) console.log(failure.code, failure.problem.errors?.[0]?.suggestion ?? failure.message);
  else if (failure instanceof NetfactsUnreachable) console.log("not reached:", failure.message);
  else throw failure;
}
