/** The fastest possible service with Fastify: a handler that only looks up bytes. `bare-fastify.ts ANSWERS` listens, and prints its URL. */

import { readFileSync } from "node:fs";
import Fastify from "fastify";

const answers = new Map(
  Object.entries(JSON.parse(readFileSync(process.argv[2] as string, "utf8")) as Record<string, string>).map(([ip, body]) => [
    ip,
    Buffer.from(body),
  ]),
);
const app = Fastify({ logger: false });
app.get<{ Params: { ip: string } }>("/api/v1/ip/:ip", (request, reply) => {
  const body = answers.get(request.params.ip);
  if (body === undefined) return reply.code(404).send();
  return reply.header("content-type", "application/json; charset=utf-8").send(body);
});
console.log(`listening at ${await app.listen({ host: "127.0.0.1", port: 0 })}`);
