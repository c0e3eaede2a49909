/** A file of addresses, one per line, as a batch: `node many-addresses.ts < addresses.txt`. */

import { createInterface } from "node:readline";
import { type BatchQuestion, NetfactsClient } from "@netfacts/client";

const netfacts = new NetfactsClient({ url: process.env.NETFACTS_URL ?? "http://127.0.0.1:8080", key: process.env.NETFACTS_KEY ?? "" });

async function* questions(): AsyncGenerator<BatchQuestion> {
  for await (const line of createInterface({ input: process.stdin })) if (line !== "") yield { kind: "ip", value: line.trim() };
}

for await (const { question, record, problem } of netfacts.batch(questions())) {
  const told = record !== undefined && "routing" in record ? (record.routing.prefix ?? "not announced") : problem?.code;
  console.log(question?.value, told);
}
