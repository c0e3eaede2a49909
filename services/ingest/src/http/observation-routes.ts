/** The operator API of uploaded observations. Any ingest process answers, because observations are in the shared store. */

import { Readable } from "node:stream";
import { hostPrefix, type Prefix, parseAddress, parsePrefix } from "@netfacts/address";
import { type ObservationUpload, type ObservationUploads, ProblemError, timestamp } from "@netfacts/contracts";
import type { UploadFormat, UploadRecord } from "@netfacts/storage";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { observationSettings } from "../uploads/settings.ts";
import { exportedLines } from "../uploads/stored-rows.ts";
import type { Deletion, Uploads } from "../uploads/uploads.ts";
import { route, sendJson, starterOf } from "./operator-routes.ts";
import { Query, readLimit } from "./query.ts";

export interface ObservationRoutesDeps {
  readonly uploads: Uploads;
  /** Path of the sources.yaml; empty: there is none. */
  readonly sources: string;
}

const path = "/observations";
/** Time that uploads have to end by themselves when the server stops; well before it closes their connections. */
const uploadStopMs = 3_000;
const formats: Readonly<Record<string, UploadFormat>> = {
  "application/x-ndjson": "ndjson",
  "text/csv": "csv",
  "application/geofeed+csv": "geofeed",
};
const uploadIdForm = /^[A-Za-z0-9_-]{1,64}$/;
const sourceForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function installObservationRoutes(app: FastifyInstance, { uploads, sources }: ObservationRoutesDeps): void {
  const { repository } = uploads;
  app.addHook("preClose", (done) => {
    setTimeout(() => void uploads.stop(), uploadStopMs).unref();
    done();
  });
  // The store is closed after this.
  app.addHook("onClose", () => uploads.stop());
  app.register(async (scope) => {
    // Bodies are read only as fast as they are stored.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, body, done) => done(null, body));

    route(scope, path, {
      async POST(request, reply) {
        const query = new ObservationQuery(request, ["upload", "offset", "source", "part"]);
        const id = query.text("upload", uploadIdForm, "1 to 64 letters, digits, hyphens and underscores");
        const source = query.text("source", sourceForm, "1 to 64 letters, digits, dots, hyphens and underscores");
        const offset = query.text("offset", /^(?:0|[1-9]\d{0,14})$/, "a number of bytes");
        const part = query.text("part", /^(?:true|false)$/, "true or false");
        query.refuseFaults();
        const format = formatOf(request);
        const stream = request.body as Readable | undefined;
        if (stream === undefined) throw new ProblemError("invalid_body", { detail: "The request has no body." });
        // Not destroyed, because a refusal must still be sent on its connection.
        const body = stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
        const by = starterOf(request);
        const upload = { id, source, offset: Number(offset ?? 0), isPart: part === "true", format, by, body };
        return sendJson(reply, uploadRecord(await uploads.receive(upload)));
      },

      async GET(request, reply) {
        const query = new ObservationQuery(request, ["address", "prefix"]);
        const [what] = query.selectors();
        query.refuseFaults(what === undefined || !("address" in what || "prefix" in what));
        const { halfLifeSeconds } = await observationSettings(sources);
        const prefix = (what as { readonly address?: Prefix }).address ?? (what as { readonly prefix: Prefix }).prefix;
        const lines = exportedLines(repository, prefix, halfLifeSeconds);
        // Reads the first lines before the status is sent, so that an unavailable store gets its own problem.
        const first = await lines.next();
        async function* text() {
          if (first.done !== true) yield first.value;
          yield* lines;
        }
        reply.headers({ "content-type": "application/x-ndjson; charset=utf-8", "cache-control": "no-store" });
        return reply.send(Readable.from(text(), { objectMode: false }));
      },

      async DELETE(request, reply) {
        const query = new ObservationQuery(request, ["address", "prefix", "source", "key_id"]);
        const [what] = query.selectors();
        query.refuseFaults(what === undefined);
        return sendJson(reply, await uploads.delete(what as Deletion, starterOf(request)));
      },
    });

    route(scope, `${path}/uploads`, {
      async GET(request, reply) {
        const body: ObservationUploads = { items: (await repository.uploads(readLimit(request))).map(uploadRecord) };
        return sendJson(reply, body);
      },
    });

    route(scope, `${path}/uploads/:id`, {
      async GET(request, reply) {
        new Query(request, []).refuseFaults();
        const upload = await repository.find((request.params as { readonly id: string }).id.slice(0, 64));
        if (upload === null) throw new ProblemError("upload_not_found");
        return sendJson(reply, uploadRecord(upload));
      },
    });
  });
}

function formatOf({ headers }: FastifyRequest): UploadFormat {
  const [type = "", ...parameters] = (headers["content-type"] ?? "").split(";").map((part) => part.trim().toLowerCase());
  const format = formats[type];
  const isUtf8 = parameters.every((parameter) => !parameter.startsWith("charset=") || /^charset="?utf-8"?$/.test(parameter));
  const encoding = headers["content-encoding"] ?? "identity";
  if (format !== undefined && isUtf8 && encoding === "identity") return format;
  const detail = `An upload is uncompressed UTF-8 text of one of these types: ${Object.keys(formats).join(", ")}.`;
  throw new ProblemError("unsupported_media_type", { detail });
}

function uploadRecord(upload: UploadRecord): ObservationUpload {
  const { id, format, source, keyId, createdAt, updatedAt, complete, offset, lines, rows, bad, badLines } = upload;
  return {
    upload: id,
    format,
    source,
    key_id: keyId,
    created_at: timestamp(createdAt),
    updated_at: timestamp(updatedAt),
    complete,
    offset,
    lines,
    rows,
    bad,
    bad_lines: badLines.map(({ line, reason }) => ({ line, reason })),
  };
}

class ObservationQuery extends Query {
  /** The given selectors; there must be exactly one. */
  selectors(): Deletion[] {
    const found: Deletion[] = [];
    const address = this.text("address", /^[^/]+$/, "an IPv4 or IPv6 address");
    const prefix = this.text("prefix", /./, "a prefix such as 192.0.2.0/24");
    const source = this.text("source", sourceForm, "the name of a source");
    const key = this.text("key_id", /^[\w-]{1,64}$/, "the id of a key");
    if (address !== null) {
      const parsed = parseAddress(address);
      if (parsed === null) this.fault("address", "must be an IPv4 or IPv6 address, given once");
      else found.push({ address: hostPrefix(parsed) });
    }
    if (prefix !== null) {
      const reading = parsePrefix(prefix);
      if (reading.ok) found.push({ prefix: reading.prefix });
      else this.fault("prefix", "must be a prefix such as 192.0.2.0/24, without host bits, given once");
    }
    if (source !== null) found.push({ source });
    if (key !== null) found.push({ key });
    if (found.length > 1) this.fault(this.known[0] ?? "", `cannot be combined: give one of ${this.known.join(", ")}`);
    return found;
  }
}
