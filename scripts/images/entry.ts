/** The program of the container image. Its first argument selects the service; `cli` selects the command line, whose arguments follow. */

import { constants } from "node:os";

const names = ["gateway-auth-quota", "ip-routing", "asn-prefix", "rdns-resolver", "ingest", "standalone", "cli"];

const [name = "", ...rest] = process.argv.slice(2);
if (!names.includes(name)) {
  process.stderr.write(
    `${name === "" ? "no service is named" : `there is no service ${JSON.stringify(name)}`}; use one of ${names.join(", ")}\n`,
  );
  process.exit(2);
}
// A signal ends the first process of a container only if it has a handler. Services later set their own handlers; the command line does not.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal]);
  });
}
process.argv.splice(2, process.argv.length, ...rest);
const program = new URL(`../../services/${name}/src/main.js`, import.meta.url).href;
await import(program);
