/** Every question of the API, asked of the one-process form as a real process that serves the samples. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { honest, startDnsServer } from "../../services/rdns-resolver/test/support/dns-server.ts";
import { endAll, netfacts, netfactsJson, removeFolders, startStandalone, temporaryFolder } from "../support/processes.ts";
import { askEverything } from "./questions.ts";

askEverything(async () => {
  const home = temporaryFolder();
  const nameserver = await startDnsServer(honest);
  const standalone = await startStandalone(home, { RESOLVERS: nameserver.address });
  return {
    url: standalone.url,
    operationsUrl: standalone.operationsUrl,
    podOperationsUrl: standalone.operationsUrl,
    newKey: (...options) => netfactsJson(home, "keys", "create", ...options),
    async changeKey(action, id) {
      const { code, err } = await netfacts(home, "keys", action, id);
      if (code !== 0) throw new Error(err);
    },
    log: () => readFile(join(home, "netfacts.log"), "utf8"),
    async stop() {
      await standalone.stop();
      await endAll();
      await nameserver.stop();
      removeFolders();
    },
  };
});
