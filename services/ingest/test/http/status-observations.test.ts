/** The operator API of uploaded observations: what is stored of a body, resuming, export, deletion, and bodies that are wrong or greedy. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { internalHeaders } from "@netfacts/contracts";
import { provokes } from "../support/provokes.ts";
import { type ServiceHarness, startService } from "../support/service.ts";
import { exported, observation, observationsPath, openUpload, send, until } from "../support/uploading.ts";

let service: ServiceHarness;
beforeAll(async () => {
  service = await startService({
    deps: (deps) => ({
      ...deps,
      config: {
        ...deps.config,
        OBSERVATIONS_UPLOAD_BYTES_MAX: 3_000_000,
        OBSERVATIONS_ROWS_MAX: 20_000,
        OBSERVATIONS_INTERVAL_SECONDS: 3_600,
      },
    }),
  });
});
afterAll(() => service.stop());

const show = (id: string) => service.ask("GET", `${observationsPath}/uploads/${id}`);

describe("an upload", () => {
  test("stores the lines that are right, and reports the others by number and reason", async () => {
    const lines = [
      observation("192.0.2.1", { method: "probe", accuracy_km: 5 }),
      "{",
      observation("192.0.2.2", { observed_at: "2099-01-01T00:00:00Z" }),
      "",
      observation("192.0.2.3", { lat: 0, lon: 0 }),
      "x".repeat(20_000),
      observation("192.0.2.4"),
    ];
    const answer = await send(service, `${lines.join("\n")}\n`, { upload: "first", source: "probes" });
    expect(answer.status).toBe(200);
    const { bad_lines: badLines, ...upload } = answer.json;
    expect(upload).toMatchObject({
      ...{ upload: "first", source: "probes", format: "ndjson", key_id: "7Q9M3W8K", complete: true },
      ...{ offset: lines.join("\n").length + 1, lines: 7, rows: 2, bad: 4 },
    });
    expect(badLines).toEqual([
      { line: 2, reason: "is not JSON" },
      { line: 3, reason: "observed_at is in the future" },
      { line: 5, reason: "lat and lon are both 0, which is how programs write that they do not know" },
      { line: 6, reason: "the line is longer than 16384 bytes" },
    ]);
    expect((await show("first")).json).toEqual(answer.json);
    expect((await service.ask("GET", `${observationsPath}/uploads`)).json.items).toEqual([answer.json]);
    expect(await exported(service, "address=192.0.2.1")).toEqual([
      {
        ...{ prefix: "192.0.2.1/32", basis: "observation", lat: 52.37, lon: 4.9, accuracy_km: 5, country: "NL", region: null, city: null },
        ...{ observed_at: "2026-11-01T10:00:00Z", method: "probe", source: "probes", key_id: "7Q9M3W8K", upload: "first", line: 1 },
        outlier: false,
      },
    ]);
  });

  test("names at most 100 invalid lines, and counts them all", async () => {
    const good = Array.from({ length: 300 }, () => observation("192.0.2.9"));
    const { json } = await send(service, `${[...good, ...Array.from({ length: 250 }, () => "{")].join("\n")}\n`, { upload: "many-bad" });
    expect([json.bad, json.bad_lines.length, json.bad_lines[0].line]).toEqual([250, 100, 301]);
  });

  test("of CSV is resumed with the columns of its first line", async () => {
    const text = "ip,country,observed_at\n198.51.100.1,NL,2026-11-01T10:00:00Z\n198.51.100.2,DE,2026-11-01T10:00:00Z\n";
    const cut = text.length - 20;
    const first = await send(service, text.slice(0, cut), { upload: "csv", type: "text/csv", part: true });
    expect(first.json).toMatchObject({ complete: false, lines: 2, rows: 1, offset: text.indexOf("198.51.100.2") });
    const second = await send(service, text.slice(first.json.offset), {
      upload: "csv",
      type: "text/csv; charset=utf-8",
      offset: first.json.offset,
    });
    expect(second.json).toMatchObject({ complete: true, lines: 3, rows: 2, offset: text.length });
    expect(await exported(service, "address=198.51.100.2")).toMatchObject([{ country: "DE", line: 3 }]);
  });

  test("does not read parts of two lines with a block of NULs between them as one", async () => {
    const text = `203.0.113.0/24,NL,,Am${"\0".repeat(4_096)},DE,,Berlin,\n203.0.114.0/24,NL,,,\n`;
    const { json } = await send(service, text, { upload: "hole", type: "application/geofeed+csv" });
    const reason = "has a block of NUL bytes: it is damaged, or no text; copy or fetch it again";
    expect(json).toMatchObject({ rows: 1, bad: 1, bad_lines: [{ line: 1, reason }] });
  });

  test("of a geofeed is stored with its basis, also a prefix without a location and a last line without a break", async () => {
    const { json } = await send(service, "# comment\n203.0.113.0/24,NL,NL-NH,Amsterdam,\n203.0.113.0/25\n203.0.113.128/25,,,,", {
      ...{ upload: "feed", type: "application/geofeed+csv" },
    });
    expect(json).toMatchObject({ rows: 2, bad: 1, bad_lines: [{ line: 3 }] });
    expect(await exported(service, "address=203.0.113.200")).toMatchObject([
      { prefix: "203.0.113.0/24", basis: "geofeed", city: "Amsterdam", observed_at: null, outlier: null },
      { prefix: "203.0.113.128/25", country: null, outlier: null },
    ]);
  });

  test("that is sent again, whole or in part, stores nothing twice", async () => {
    const lines = Array.from({ length: 2_500 }, (_, at) => `${observation(`10.1.${at >> 8}.${at & 255}`)}\n`);
    const text = lines.join("");
    const once = (await send(service, text, { upload: "again" })).json;
    const revision = await service.observations.revision();
    expect((await send(service, text, { upload: "again" })).json).toEqual(once);
    const part = (await send(service, text.slice(5_000, 90_000), { upload: "again", offset: 5_000, part: true })).json;
    expect(part).toMatchObject({ offset: text.length, lines: 2_500, rows: 2_500, complete: true });
    expect(await service.observations.revision()).toBe(revision);
    expect(await exported(service, "prefix=10.1.0.0/16")).toHaveLength(2_500);
  });

  test("whose connection is cut keeps the whole lines that came, and is resumed from there", async () => {
    const lines = Array.from({ length: 3_000 }, (_, at) => `${observation(`10.2.${at >> 8}.${at & 255}`)}\n`);
    const text = lines.join("");
    const open = await openUpload(service, { upload: "cut" });
    open.write(text.slice(0, 200_000));
    await until(
      () => show("cut"),
      ({ json }) => json.lines >= 1_000,
    );
    open.socket.destroy();
    const whole = text.lastIndexOf("\n", 199_999) + 1;
    const { json } = await until(
      () => show("cut"),
      ({ json }) => json.offset === whole,
    );
    expect(json).toMatchObject({ complete: false, bad: 0 });
    // Told as what it is: nothing failed here.
    await until(
      async () => service.log.map(({ level, message }) => `${level} ${message}`),
      (lines) => lines.includes("info the connection ended before the body of the request"),
    );
    expect(service.log.filter(({ level }) => level === "error")).toEqual([]);
    const rest = (await send(service, text.slice(whole), { upload: "cut", offset: whole })).json;
    expect(rest).toMatchObject({ complete: true, lines: 3_000, rows: 3_000, bad: 0 });
    expect(await exported(service, "prefix=10.2.0.0/16")).toHaveLength(3_000);
  });
});

test("the audit has each upload, and each request of another key", async () => {
  const line = (last: number) => `${observation(`10.9.0.${last}`)}\n`;
  const parts = [1, 2, 3].map(line);
  const part = { upload: "audited", part: true };
  await send(service, parts[0] ?? "", { ...part, source: "audited-probes", headers: { "x-forwarded-for": "192.0.2.77" } });
  await send(service, parts[1] ?? "", { ...part, offset: parts[0]?.length ?? 0 });
  const offset = parts.slice(0, 2).join("").length;
  expect((await send(service, parts[2] ?? "", { ...part, offset, key: "AAAAAAAA" })).json).toMatchObject({ lines: 3 });
  const entries = (await service.store.audit.list({ limit: 10 })).filter(({ target }) => target === "audited-probes");
  const upload = { action: "observations.upload", details: { upload: "audited", format: "ndjson" } };
  expect(entries).toMatchObject([
    { ...upload, actor: "key:AAAAAAAA" },
    { ...upload, actor: "key:7Q9M3W8K", address: "192.0.2.77" },
  ]);
});

test("an export shows covering and contained prefixes, and which observations disagree with the others", async () => {
  const rows = [1, 2, 3].map((day) => observation("100.64.1.1", { observed_at: `2026-11-0${day}T00:00:00Z` }));
  const far = observation("100.64.1.1", { lat: 35.6, lon: 139.7, country: "JP", method: "other" });
  const around = JSON.stringify({ prefix: "100.64.0.0/16", country: "NL", observed_at: "2026-11-01T00:00:00Z" });
  await send(service, [...rows, far, around, observation("100.64.1.2")].join("\n"), { upload: "outliers" });
  const found = await exported(service, "prefix=100.64.1.0/24");
  expect(found.map(({ prefix, country, outlier }) => [prefix, country, outlier])).toEqual([
    ["100.64.0.0/16", "NL", false],
    ["100.64.1.1/32", "NL", false],
    ["100.64.1.1/32", "NL", false],
    ["100.64.1.1/32", "NL", false],
    ["100.64.1.1/32", "JP", true],
    ["100.64.1.2/32", "NL", false],
  ]);
  expect((await exported(service, "address=100.64.1.2")).map(({ prefix }) => prefix)).toEqual(["100.64.0.0/16", "100.64.1.2/32"]);
  expect(await exported(service, "address=9.9.9.9")).toEqual([]);
});

describe("a deletion", () => {
  const remove = (query: string) =>
    service.ask("DELETE", `${observationsPath}?${query}`, {
      headers: { [internalHeaders.keyId]: "7Q9M3W8K", "x-forwarded-for": "192.0.2.77" },
    });

  test("of an address, a prefix, a source or a key takes these rows and no others, and is in the audit", async () => {
    const at = (third: number) => [1, 2].map((last) => observation(`10.3.${third}.${last}`)).join("\n");
    await send(service, at(0), { upload: "del-1", source: "one" });
    await send(service, at(1), { upload: "del-2", source: "two", key: "AAAAAAAA" });
    await send(service, at(2), { upload: "del-3", source: "two", key: "BBBBBBBB" });
    const rest = async () => (await exported(service, "prefix=10.3.0.0/16")).map(({ prefix }) => prefix);
    expect((await remove("address=10.3.0.1")).json).toEqual({ deleted: 1, complete: true });
    expect(await rest()).toEqual(["10.3.0.2/32", "10.3.1.1/32", "10.3.1.2/32", "10.3.2.1/32", "10.3.2.2/32"]);
    expect((await remove("prefix=10.3.1.0/31")).json).toEqual({ deleted: 1, complete: true });
    expect(await rest()).toEqual(["10.3.0.2/32", "10.3.1.2/32", "10.3.2.1/32", "10.3.2.2/32"]);
    expect((await remove("key_id=BBBBBBBB")).json).toEqual({ deleted: 2, complete: true });
    expect((await remove("source=two")).json).toEqual({ deleted: 1, complete: true });
    expect(await rest()).toEqual(["10.3.0.2/32"]);
    expect((await show("del-3")).status).toBe(404);
    expect((await show("del-1")).status).toBe(200);
    const [entry] = await service.store.audit.list({ limit: 1 });
    expect(entry).toMatchObject({
      ...{ actor: "key:7Q9M3W8K", action: "observations.delete", target: "two", address: "192.0.2.77", details: { by: "source" } },
    });
  });

  test("of a source whose upload is being sent ends that upload, and nothing of it is stored later", async () => {
    const open = await openUpload(service, { upload: "racing", source: "racer" });
    const lines = (from: number) => Array.from({ length: 1_000 }, (_, at) => `${observation(`10.4.${from}.${at & 255}`)}\n`).join("");
    open.write(lines(0));
    await until(
      () => show("racing"),
      ({ json }) => json.lines === 1_000,
    );
    expect((await remove("source=racer")).json.deleted).toBe(1_000);
    let answer = "";
    open.socket.on("data", (piece) => {
      answer += piece;
    });
    open.write(lines(1));
    await until(
      async () => answer,
      (text) => text.includes("upload_conflict"),
    );
    open.socket.destroy();
    expect(await exported(service, "prefix=10.4.0.0/16")).toEqual([]);
  });
});

describe("what is refused", () => {
  const body = `${observation("10.9.0.1")}\n`;
  const begun = async (upload: string) => {
    const open = await openUpload(service, { upload });
    open.write(body);
    await until(
      () => show(upload),
      ({ status }) => status === 200,
    );
    return open;
  };
  provokes("unsupported_media_type", "another type", () => send(service, body, { type: "application/json" }));
  provokes("unsupported_media_type", "another charset", () => send(service, body, { type: "text/csv; charset=latin1" }));
  provokes("unsupported_media_type", "a compressed body", () => send(service, body, { headers: { "content-encoding": "gzip" } }));
  provokes("invalid_parameter", "an id that is none", () => send(service, body, { upload: "../x" }));
  provokes("invalid_parameter", "an export of nothing", () => service.ask("GET", observationsPath));
  provokes("invalid_parameter", "a deletion of everything", () => service.ask("DELETE", observationsPath));
  provokes("invalid_parameter", "a deletion by two", () => service.ask("DELETE", `${observationsPath}?source=a&key_id=b`));
  provokes("invalid_parameter", "a prefix with host bits", () => service.ask("DELETE", `${observationsPath}?prefix=10.0.0.1/8`));
  provokes("upload_not_found", "an upload that there is not", () => show("nowhere"));
  provokes("method_not_allowed", "another method", () => service.ask("PUT", observationsPath, { body: "x" }));

  provokes("upload_conflict", "an offset beyond what is stored", () => send(service, body, { upload: "ahead", offset: 5 }));
  provokes("upload_conflict", "another format than before", async () => {
    await send(service, body, { upload: "format" });
    return send(service, "ip,observed_at\n", { upload: "format", type: "text/csv" });
  });
  provokes("upload_conflict", "an upload that is in progress", async () => {
    const open = await begun("busy");
    const answer = await send(service, body, { upload: "busy" });
    open.socket.destroy();
    expect(answer.headers["retry-after"]).toBe("2");
    return answer;
  });

  provokes("too_many_uploads", "one more than is received at a time, and afterwards it is received", async () => {
    const open = [await begun("slot-1"), await begun("slot-2")];
    const refused = await send(service, body, { upload: "slot-3" });
    for (const { socket } of open) socket.destroy();
    const accepted = await until(
      () => send(service, body, { upload: "slot-3" }),
      ({ status }) => status !== 429,
    );
    expect(accepted.status).toBe(200);
    return refused;
  });

  provokes("invalid_body", "CSV whose first line names other columns", () => send(service, "a,b\n1,2\n", { type: "text/csv" }));
  provokes("invalid_body", "a file of another format, long before its end", async () => {
    const answer = await send(service, "1,2,3\n".repeat(400_000), { upload: "wrong" });
    expect((await show("wrong")).json).toMatchObject({ rows: 0, complete: false, lines: 0 });
    expect(answer.json.detail).toContain("Stored are 0 bytes, 0 lines.");
    // Sent again it comes no further.
    expect((await send(service, "1,2,3\n".repeat(400_000), { upload: "wrong" })).json.detail).toBe(answer.json.detail);
    return answer;
  });
  provokes("invalid_body", "a file without a valid line", async () => {
    const answer = await send(service, "<!doctype html>\n<p>Not found\n", { upload: "page" });
    expect(answer.json.detail).toMatch(/^2 of 2 lines are invalid: line 1 /);
    expect((await show("page")).json).toMatchObject({ lines: 0, complete: false });
    return answer;
  });
  provokes("invalid_body", "a file of CSV that ends within a line, which is complete with the rest of it", async () => {
    const header = "ip,lat,lon,observed_at,country\n";
    const [first, second] = ["192.0.2.1,52.37,4.9,2026-11-20T22:14:05Z,NL\n", "192.0.2.2,-41.28,174.7762,2026-11-20T22:14:05Z,NZ\n"];
    const sent = { upload: "cut-csv", type: "text/csv" };
    const answer = await send(service, `${header}${first}${second.slice(0, -2)}`, sent);
    expect(answer.json.detail).toContain(`Stored are ${header.length + first.length} bytes, 2 lines.`);
    expect((await show("cut-csv")).json).toMatchObject({ rows: 1, complete: false });
    expect((await send(service, `${header}${first}${second}`, sent)).json).toMatchObject({ rows: 2, bad: 0, complete: true });
    return answer;
  });
  provokes("invalid_body", "NDJSON that ends within a line, which is complete with the rest of it", async () => {
    const [first, second] = [`${observation("198.19.0.1")}\n`, observation("198.19.0.2")];
    const answer = await send(service, `${first}${second.slice(0, -2)}`, { upload: "cut-json" });
    expect(answer.json.detail).toContain(`Stored are ${first.length} bytes, 1 lines.`);
    expect((await show("cut-json")).json).toMatchObject({ rows: 1, bad: 0, complete: false });
    const rest = { upload: "cut-json", offset: first.length };
    expect((await send(service, second, rest)).json).toMatchObject({ rows: 2, bad: 0, complete: true });
    return answer;
  });
  provokes("invalid_body", "JSON over many lines, whatever its end", async () => {
    const answer = await send(service, "[\n  1\n]", { upload: "pretty" });
    expect(answer.json.detail).toMatch(/^2 of 2 lines are invalid: line 1 /);
    return answer;
  });
  for (const type of ["application/x-ndjson", "text/csv", "application/geofeed+csv"])
    provokes("invalid_body", `UTF-16 text as ${type}, of which nothing is stored`, async () => {
      const upload = `utf16-${type.replace(/\W/g, "-")}`;
      const text = new Blob([Buffer.from(`\ufeff${body}${body}`, "utf16le")]).stream() as ReadableStream;
      const answer = await send(service, text, { upload, type });
      expect(answer.json.detail).toBe("The file is UTF-16 text; save it as UTF-8. Stored are 0 bytes, 0 lines.");
      expect((await show(upload)).json).toMatchObject({ lines: 0, complete: false });
      return answer;
    });
  provokes("invalid_body", "a geofeed that ends within a place", async () =>
    send(service, "203.0.113.0/24,NL,NL-NH,Amsterdam,\n203.0.114.0/24,US,US-C", { upload: "cut-feed", type: "application/geofeed+csv" }),
  );
  provokes("upload_conflict", "another file under the id of an upload, whatever its length", async () => {
    const [one, two] = [`${observation("198.18.0.1")}\n`, `${observation("198.18.0.2")}\n`];
    const first = (await send(service, one, { upload: "taken" })).json;
    for (const other of [`${two}${observation("198.18.0.3")}\n`, two, two.slice(0, 20)]) {
      const { status, json } = await send(service, other, { upload: "taken" });
      expect([status, json.code, json.detail]).toEqual([
        409,
        "upload_conflict",
        expect.stringContaining(`of which ${one.length} bytes are stored`),
      ]);
    }
    // More lines behind what is stored are more of the same file.
    expect((await send(service, `${one}${two}`, { upload: "taken" })).json).toMatchObject({ rows: first.rows + 1 });
    const answer = await send(service, two, { upload: "taken" });
    // The same request is refused later, too.
    expect(answer.headers["retry-after"]).toBeUndefined();
    return answer;
  });
  provokes("invalid_body", "a line without an end", async () => {
    const answer = await send(service, `${body}${"x".repeat(1_900_000)}`, { upload: "endless" });
    expect((await show("endless")).json).toMatchObject({ offset: body.length, rows: 1 });
    return answer;
  });
  provokes("payload_too_large", "a file larger than the bound, whose first lines are kept", async () => {
    const answer = await send(service, body.repeat(40_000), { upload: "large" });
    const { offset } = (await show("large")).json;
    expect(offset).toBeGreaterThan(2_000_000);
    expect(offset).toBeLessThanOrEqual(3_000_000);
    expect(answer.json.detail).toContain(`Stored are ${offset} bytes`);
    return answer;
  });
  provokes("observations_full", "more rows than the store takes, until the oldest were removed", async () =>
    send(service, body, { upload: "late" }),
  );
});

test("a body that arrives too slowly is ended, and what came is kept", async () => {
  const { receive } = await import("../../src/uploads/receive.ts");
  const repository = service.observations;
  const upload = await repository.begin({ id: "slow", format: "ndjson", source: "slow", keyId: null }, Date.now());
  async function* body() {
    yield Buffer.from(`${observation("10.8.0.1")}\n`);
    await new Promise((resolve) => setTimeout(resolve, 5_000).unref());
  }
  const bounds = { bytesMax: 1_000_000, secondsMax: 60, rowsMax: 1_000_000, slowMs: 100 };
  const sent = receive({
    ...bounds,
    repository,
    upload,
    offset: 0,
    body: body(),
    isPart: false,
    skewSeconds: 0,
    clock: { now: () => Date.now() },
  });
  await expect(sent).rejects.toMatchObject({ code: "request_timeout" });
  expect(await repository.find("slow")).toMatchObject({ rows: 1, complete: false });
});

test.each(["\ufeff", ""])("UTF-16 text after mark %j is refused also if its first piece is one byte", async (mark) => {
  const { receive } = await import("../../src/uploads/receive.ts");
  const repository = service.observations;
  const upload = await repository.begin({ id: `one-byte-${mark.length}`, format: "csv", source: "one-byte", keyId: null }, Date.now());
  const text = Buffer.from(`${mark}ip,country,observed_at\n`, "utf16le");
  async function* body() {
    yield Buffer.alloc(0);
    yield text.subarray(0, 1);
    yield text.subarray(1);
  }
  const bounds = { bytesMax: 1_000_000, secondsMax: 60, rowsMax: 1_000_000 };
  const sent = receive({ ...bounds, repository, upload, offset: 0, body: body(), isPart: false, skewSeconds: 0, clock: Date });
  await expect(sent).rejects.toMatchObject({ code: "invalid_body", message: expect.stringContaining("The file is UTF-16 text") });
});

test("a clock that is set during an upload neither ends it nor lets a silent one wait", async () => {
  const { receive } = await import("../../src/uploads/receive.ts");
  const repository = service.observations;
  const bounds = { bytesMax: 1_000_000, secondsMax: 60, rowsMax: 1_000_000 };
  let setMs = 0;
  const clock = { now: () => Date.now() + setMs };
  const send = async (id: string, goesOn: boolean) => {
    const upload = await repository.begin({ id, format: "ndjson", source: id, keyId: null }, Date.now());
    async function* body() {
      yield Buffer.from(`${observation("10.11.0.1")}\n`);
      setMs += goesOn ? 3_600_000 : -3_600_000;
      if (!goesOn) await new Promise(() => undefined);
      yield Buffer.from(`${observation("10.11.0.2")}\n`);
    }
    const slow = goesOn ? {} : { slowMs: 200 };
    return receive({ ...bounds, ...slow, repository, upload, offset: 0, body: body(), isPart: false, skewSeconds: 7_200, clock });
  };
  expect(await send("set-forward", true)).toMatchObject({ rows: 2, complete: true });
  await expect(send("set-back", false)).rejects.toMatchObject({ code: "request_timeout", message: expect.stringContaining("too slowly") });
});

test("an upload in progress when the service stops is told what is stored", async () => {
  const stopping = await startService();
  const open = await openUpload(stopping, { upload: "stopped" });
  const lines = `${observation("10.9.0.1")}\n${observation("10.9.0.2")}\n`;
  open.write(`${lines}{"ip`);
  await until(
    () => stopping.observations.find("stopped"),
    (found) => found !== null,
  );
  let answer = "";
  open.socket.setEncoding("utf8").on("data", (text: string) => {
    answer += text;
  });
  await stopping.app.stop();
  expect(answer).toMatch(/^HTTP\/1.1 503 /);
  expect(answer).toContain('"code":"shutting_down"');
  expect(answer).toContain(`Resume the upload in a few seconds. Stored are ${lines.length} bytes, 2 lines.`);
  expect(await stopping.observations.find("stopped")).toMatchObject({ rows: 2, complete: false });
  await stopping.stop();
  expect(stopping.log.filter(({ level }) => level === "error")).toEqual([]);
});

test("a stop waits for rows that are being stored", async () => {
  const { Uploads } = await import("../../src/uploads/uploads.ts");
  const held = Promise.withResolvers<void>();
  let isStoring = false;
  const repository: typeof service.observations = {
    ...service.observations,
    async store(...given) {
      isStoring = true;
      await held.promise;
      return service.observations.store(...given);
    },
  };
  const bounds = { bytesMax: 1_000_000, secondsMax: 60, rowsMax: 1_000_000, uploadsMax: 1 };
  const uploads = new Uploads({ ...bounds, repository, audit: service.store.audit, clock: Date });
  async function* body() {
    yield Buffer.from(`${observation("10.10.0.1")}\n`.repeat(1_000));
    await new Promise(() => undefined);
  }
  const request = { id: "held", source: null, format: "ndjson", isPart: false, offset: 0 } as const;
  const receiving = uploads.receive({ ...request, by: { actor: "cli", keyId: null, address: null }, body: body() });
  await until(
    async () => isStoring,
    (is) => is,
  );
  let isStopped = false;
  const stopped = uploads.stop().then(() => {
    isStopped = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isStopped).toBe(false);
  held.resolve();
  // Nothing else comes: the end is noticed all the same.
  await expect(receiving).rejects.toMatchObject({ code: "shutting_down", message: expect.stringContaining("1000 lines") });
  await stopped;
});
