/** Settings: faults that the schema cannot see, all at once. */

import { describe, expect, test } from "@jest/globals";
import { loadIngestConfig } from "../src/config.ts";
import { startService } from "./support/service.ts";

const env = { PROXY_TOKEN: "0123456789abcdefghijklmnopqrstuvwxyz", SOURCES: "sources.yaml", NATS_URL: "nats://127.0.0.1:4222" };

test("a beginning for the types of problems that is no URI is a fault", () => {
  expect(() => loadIngestConfig({ ...env, ERROR_DOCS_BASE: "not a url" })).toThrow(/^ERROR_DOCS_BASE must be a path .* not "not a url"$/);
});

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

test("a wrong URL and a wrong MONGODB_URI are told at once, without the password", () => {
  const load = (settings: object) => () => loadIngestConfig({ PROXY_TOKEN: "t".repeat(32), ...settings });
  expect(load({})).not.toThrow();
  const wrong = load({ INGEST_ADVERTISED_URL: "ingest:8090", MONGODB_URI: "mongodb://netfacts:hunter2@db/net.facts" });
  expect(wrong).toThrow(/^INGEST_ADVERTISED_URL must be .*\nMONGODB_URI names a database with a character/);
  expect(wrong).not.toThrow(/hunter2/);
});

test("a wrong FETCH_CA_FILE is told at once, with the other faults and before the service waits for any server", () => {
  expect(() => loadIngestConfig({ ...env, FETCH_CA_FILE: "/nowhere.pem", ERROR_DOCS_BASE: "not a url" })).toThrow(
    /^FETCH_CA_FILE: \/nowhere\.pem does not exist\nERROR_DOCS_BASE must be/,
  );
});

test.each(["http://ingest:8090?x=1", "http://ingest:8090#", "http://netfacts:hunter2@ingest:8090", "http://ingest:8090/"])(
  "INGEST_ADVERTISED_URL must not be %s, to which no path can be added",
  (url) => {
    const load = () => loadIngestConfig({ ...env, INGEST_ADVERTISED_URL: url });
    expect(load).toThrow(/^INGEST_ADVERTISED_URL must be an http or https URL with a host and a port, without a user, a path or a query$/);
  },
);
