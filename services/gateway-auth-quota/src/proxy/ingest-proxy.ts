/** The proxy to ingest's operator API: allow-listed headers, streamed bodies, and our own problems for failures of the proxy. */

import { ingestPath, ProblemError } from "@netfacts/contracts";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { permitBody } from "../edge/body-permission.ts";
import { type ProblemOptions, sendProblem } from "../edge/problems.ts";
import { answerHeaders, requestHeaders, withoutAnswerHeaders } from "./proxied-headers.ts";
import { detachedBody } from "./request-body.ts";

export interface IngestProxyOptions {
  /** Origin of ingest's operator API. */
  readonly url: string;
  readonly proxyToken: string;
  /** Longest time until ingest begins its answer, and between two parts of it, in ms. */
  readonly timeoutMs: number;
  readonly problems: ProblemOptions;
}

/** Most open connections to ingest; there are few operators. */
const connectionsMax = 32;

/** Registers the routes. The caller must have added a hook that admits only operators. */
export function installIngestProxy(app: FastifyInstance, { url, proxyToken, timeoutMs, problems }: IngestProxyOptions): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, body, done) => done(null, detachedBody(body)));
  app.addHook("preParsing", (request, reply, _body, done) => {
    // The key is verified, so the client may send its body.
    permitBody(request.raw, reply.raw);
    done();
  });
  app.register(import("@fastify/http-proxy"), {
    upstream: url,
    prefix: ingestPath,
    rewritePrefix: ingestPath,
    proxyPayloads: false,
    internalRewriteLocationHeader: false,
    disableRequestLogging: true,
    undici: { connections: connectionsMax, headersTimeout: timeoutMs, bodyTimeout: timeoutMs, connect: { timeout: timeoutMs } },
    replyOptions: {
      rewriteRequestHeaders: (request) => requestHeaders(request as FastifyRequest, proxyToken),
      rewriteHeaders: (headers) => answerHeaders(headers),
      // The client decides whether to retry.
      retryDelay: () => null,
      onError: (reply, { error }) =>
        void sendProblem(proxyProblem(error), reply.request as FastifyRequest, reply as FastifyReply, problems),
      onResponse(request, reply, response) {
        const { stream } = response as unknown as { stream: NodeJS.ReadableStream & { destroy(): void } };
        if (reply.statusCode !== 401) return void reply.send(stream);
        // A 401 of ingest is a configuration error here: the operator's key cannot cause it.
        stream.on("error", () => {});
        stream.destroy();
        withoutAnswerHeaders(reply);
        const cause = new Error("ingest rejected the proxy token; set PROXY_TOKEN to the same value in the gateway and in ingest");
        sendProblem(new ProblemError("upstream_error", { cause }), request as FastifyRequest, reply as FastifyReply, problems);
      },
    },
  });
}

const timeoutCodes = ["FST_REPLY_FROM_GATEWAY_TIMEOUT", "FST_REPLY_FROM_TIMEOUT", "UND_ERR_CONNECT_TIMEOUT"];

/** The problem of a request that ingest did not answer. */
function proxyProblem(error: Error & { readonly code?: string }): ProblemError {
  return new ProblemError(timeoutCodes.includes(error.code ?? "") ? "upstream_timeout" : "upstream_error", { cause: error });
}
