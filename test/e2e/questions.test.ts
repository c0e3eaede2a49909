/** Every question of the API, asked of the one-process form as a real process that serves the samples. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { endAll, netfacts, netfactsJson, removeFolders, startStandalone, temporaryFolder } from "../support/processes.ts";
import { startRecursiveDns } from "../support/recursive-dns.ts";
import { withSamples } from "../support/sample-snapshot.ts";
import { askEverything, resolverSettings } from "./questions.ts";

askEverything(async () => {
  const home = await withSamples(temporaryFolder());
  const dns = await startRecursiveDns();
  const standalone = await startStandalone(home, { RESOLVERS: dns.address, ...resolverSettings }).catch(async (error: unknown) => {
    await dns.stop();
    throw error;
  });
  return {
    url: standalone.url,
    operationsUrl: standalone.operationsUrl,
    podOperationsUrl: standalone.operationsUrl,
    newKey: (...options) => netfactsJson(home, "keys", "create", ...options),
    async changeKey(action, id) {
      const { code, err } = await netfacts(home, "keys", action, id);
      if (code !== 0) throw new Error(err);
    },
    dns,
    log: () => readFile(join(home, "netfacts.log"), "utf8"),
    async stop() {
      await standalone.stop();
      await endAll();
      await dns.stop();
      removeFolders();
    },
  };
});
