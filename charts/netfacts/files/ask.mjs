/** Makes a key that lives ten minutes, asks the API about an address with it, and revokes it. Ends with status 1 unless the answer is about that address. */

import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

/** `NETFACTS`: the program of the image, with the arguments before those of the command line, separated by spaces. */
const { API_URL, IP, NETFACTS = "/app/netfacts.js cli" } = process.env;
/** After a rollout, a Service can refuse connections for a moment. */
const tries = 10;

function netfacts(...args) {
  return JSON.parse(execFileSync(process.execPath, [...NETFACTS.split(" "), ...args, "--json"], { encoding: "utf8", cwd: "/tmp" }));
}

async function ask(path, secret) {
  for (let left = tries; ; left--) {
    try {
      const response = await fetch(API_URL + path, {
        headers: { authorization: `Bearer ${secret}` },
        signal: AbortSignal.timeout(10_000),
      });
      const text = await response.text();
      if (response.ok) return JSON.parse(text);
      if (left === 0 || response.status < 500) throw new Error(`${path}: ${response.status} ${text}`);
    } catch (error) {
      if (left === 0 || error.cause === undefined) throw error;
    }
    await sleep(1_000);
  }
}

const { id, secret } = netfacts("keys", "create", "--label", "helm test", "--scopes", "ip", "--test", "--expires", "10m");
try {
  const { ready } = await ask("/api/v1/status", secret);
  if (ready !== true) throw new Error("/api/v1/status says that no data are in service: see the log of ingest");
  const record = await ask(`/api/v1/ip/${IP}`, secret);
  if (record.ip !== IP) throw new Error(`asked about ${IP}, answered about ${record.ip}`);
  if (!record.routing?.prefix) throw new Error(`${IP} has no route in these data: set test.ip to an address that has one`);
  console.log(`${IP} is in ${record.routing.prefix}`);
} finally {
  netfacts("keys", "revoke", id);
}
