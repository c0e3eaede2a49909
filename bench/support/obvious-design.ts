/**
 * The obvious design: Fastify, rate-limiter-flexible, a NATS request for each HTTP request, JSON in both directions.
 * `obvious-design.ts gateway memory|mongo KEY` or `obvious-design.ts pod ANSWERS`, with NATS_URL and MONGODB_URI in the environment.
 *
 * Its answers are prepared records by address, so that it spends no time on lookups.
 */

import { readFileSync } from "node:fs";
import Fastify from "fastify";
import { MongoClient } from "mongodb";
import { RateLimiterMemory, RateLimiterMongo } from "rate-limiter-flexible";
import { connect } from "../../libs/messaging/bench/support/plain-nats.ts";

const subject = "obvious.ip";
/** A limit that is never reached, like that of the other gateway. */
const limit = { points: 1_000_000_000, duration: 86_400 };

const [, , role, ...args] = process.argv;
const nats = await connect({ servers: process.env.NATS_URL as string });

if (role === "pod") {
  const answers = JSON.parse(readFileSync(args[0] as string, "utf8")) as Record<string, string>;
  const records = new Map(Object.entries(answers).map(([ip, body]) => [ip, JSON.parse(body)]));
  const encoder = new TextEncoder();
  nats.subscribe(subject, {
    queue: "pods",
    callback(_, message) {
      const { ip } = message.json<{ ip: string }>();
      message.respond(encoder.encode(JSON.stringify({ status: 200, record: records.get(ip) ?? null })));
    },
  });
  await nats.flush();
  console.log("ready for requests");
} else {
  const [kind, key] = args;
  const limiter =
    kind === "mongo"
      ? new RateLimiterMongo({
          storeClient: await new MongoClient(process.env.MONGODB_URI as string).connect(),
          dbName: "obvious",
          ...limit,
        })
      : new RateLimiterMemory(limit);
  const keys = new Map([[key, { id: "customer" }]]);
  const encoder = new TextEncoder();
  const app = Fastify({ logger: false });
  app.get<{ Params: { ip: string } }>("/api/v1/ip/:ip", async (request, reply) => {
    const caller = keys.get(request.headers.authorization?.slice("Bearer ".length));
    if (caller === undefined) return reply.code(401).send({ error: "unauthorized" });
    const { remainingPoints } = await limiter.consume(caller.id);
    const question = encoder.encode(JSON.stringify({ ip: request.params.ip, requestId: request.id }));
    const message = await nats.request(subject, question, { timeout: 5_000 });
    const { status, record } = message.json<{ status: number; record: unknown }>();
    return reply.code(status).header("x-ratelimit-remaining", remainingPoints).send(record);
  });
  console.log(`listening at ${await app.listen({ host: "127.0.0.1", port: 0 })}`);
}
