/** In which form a batch is asked, and in which it is answered. */

import { mediaTypes, ProblemError } from "@netfacts/contracts";
import type { FastifyRequest } from "fastify";
import { notAcceptable, preferredType } from "../../edge/accept.ts";
import { searchOf } from "../../edge/search.ts";
import { QuestionReader } from "../question-reader.ts";

const formats = ["json", "ndjson"] as const;
export type Format = (typeof formats)[number];

export interface Form {
  readonly asked: Format;
  readonly encoding: "gzip" | null;
  readonly answered: Format;
  /** Whether records have their `meta` where the item does not say. */
  readonly meta: boolean;
}

/** @throws ProblemError if one of the two forms is not supported, or the query has a parameter that a batch does not take. */
export function readForm(request: FastifyRequest): Form {
  const reader = new QuestionReader({}, searchOf(request), ["format", "meta"]);
  const wanted = reader.choice("format", formats);
  const meta = reader.flag("meta", true);
  reader.finish();
  const { headers } = request;
  const asked = contentFormat(headers["content-type"]);
  const encoding = contentEncoding(headers["content-encoding"]);
  return { asked, encoding, answered: wanted ?? acceptedFormat(headers.accept, asked), meta };
}

function contentFormat(header: string | undefined): Format {
  const [type = "", ...parameters] = (header ?? "").split(";").map((part) => part.trim().toLowerCase());
  const format = formats.find((name) => mediaTypes[name] === type);
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice("charset=".length);
  if (format !== undefined && (charset === undefined || /^"?utf-8"?$/.test(charset))) return format;
  throw new ProblemError("unsupported_media_type", {
    detail: "Send a batch as `application/json` or `application/x-ndjson`, in UTF-8.",
    headers: { "accept-post": formats.map((name) => mediaTypes[name]).join(", ") },
  });
}

function contentEncoding(header: string | undefined): "gzip" | null {
  const encoding = (header ?? "identity").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return null;
  if (encoding === "gzip" || encoding === "x-gzip") return "gzip";
  throw new ProblemError("unsupported_media_type", {
    detail: "The only supported compression of the body is gzip.",
    headers: { "accept-encoding": "gzip" },
  });
}

/** The format of the highest weight; if weights are equal, the one of the request. */
function acceptedFormat(header: string | undefined, asked: Format): Format {
  const other: Format = asked === "json" ? "ndjson" : "json";
  // `preferredType` takes JSON alone for the first offer, which may be NDJSON here.
  const type = header?.trim() === mediaTypes.json ? mediaTypes.json : preferredType(header, [mediaTypes[asked], mediaTypes[other]]);
  const format = formats.find((name) => mediaTypes[name] === type);
  if (format === undefined) throw notAcceptable([mediaTypes.json, mediaTypes.ndjson]);
  return format;
}
