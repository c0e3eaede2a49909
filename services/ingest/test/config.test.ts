/** Settings that the schema alone cannot check. */

import { describe, expect, test } from "@jest/globals";
import { loadIngestConfig } from "../src/config.ts";
import { startService } from "./support/service.ts";

const env = { PROXY_TOKEN: "0123456789abcdefghijklmnopqrstuvwxyz", SOURCES: "sources.yaml", NATS_URL: "nats://127.0.0.1:4222" };

describe("INGEST_ADVERTISED_HOST", () => {
  test.each(["10.0.0.7", "fd00::5", "ingest-0.ingest.netfacts.svc", ""])("may be %j", (host) => {
    expect(loadIngestConfig({ ...env, INGEST_ADVERTISED_HOST: host }).INGEST_ADVERTISED_HOST).toBe(host);
  });

  test.each(["[fd00::5]", "10.0.0.7:8090", "http://10.0.0.7", "ingest 0", "fd00::5::"])("must not be %j", (host) => {
    expect(() => loadIngestConfig({ ...env, INGEST_ADVERTISED_HOST: host })).toThrow(
      /INGEST_ADVERTISED_HOST must be a host name or an address/,
    );
  });

  test.each([
    ["fd00::5", /^http:\/\/\[fd00::5\]:\d+$/],
    ["10.0.0.7", /^http:\/\/10\.0\.0\.7:\d+$/],
  ])("%s is where others reach this process, on the port that it has", async (host, url) => {
    const service = await startService({
      deps: (deps) => ({ ...deps, config: { ...deps.config, INGEST_ADVERTISED_HOST: host } }),
    });
    try {
      const told = service.log.find(({ message }) => message === "operator API is listening");
      expect(told?.fields).toMatchObject({ advertised_url: expect.stringMatching(url) });
    } finally {
      await service.stop();
    }
  });
});
