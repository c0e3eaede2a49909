/** `/reverse-dns/193.0.6.139`. */

import type { ReverseDnsRecord } from "@netfacts/client";
import { useAnswer } from "../answer.ts";
import { duration, moment } from "../domain/format.ts";
import { reverseDnsSentence } from "../domain/sentences.ts";
import { callOf } from "../domain/snippets.ts";
import { Card, Facts, Outside } from "../parts/basics.tsx";
import { Answered } from "../parts/failed.tsx";
import { DataBehind, Snippets } from "../parts/shown-as.tsx";
import { texts } from "../texts.ts";

function forwardText(forward: ReverseDnsRecord["names"][number]["forward"]): string {
  if (forward === null) return "whether it leads back was not asked";
  if (forward.confirmed === null) return `whether it leads back is unknown (${forward.status})`;
  return forward.confirmed ? "leads back to the address" : "does not lead back to the address";
}

export function ReverseDnsPage({ ip }: { readonly ip: string }) {
  const [answer, again] = useAnswer(ip, (client, signal) => client.reverseDns(ip, { signal }));
  return (
    <Answered answer={answer} again={again}>
      {(record) => (
        <>
          <h1>{reverseDnsSentence(record)}</h1>
          <div class="cards">
            {record.names.length === 0 ? null : (
              <Card title={texts.cards.names}>
                <ul class="plain">
                  {record.names.map(({ name, forward, ttl_seconds }) => (
                    <li key={name}>
                      <Outside text={name} />
                      <p class="detail">
                        {forwardText(forward)} · valid for {duration(ttl_seconds)}
                      </p>
                    </li>
                  ))}
                </ul>
              </Card>
            )}
            <Card title="The lookup">
              <Facts
                facts={[
                  ["Asked for", record.query_name],
                  ["Result", record.status],
                  ["DNSSEC", record.dnssec],
                  [
                    "From the cache",
                    record.cache?.hit ? `yes${record.cache.stored_at === null ? "" : `, stored ${moment(record.cache.stored_at)}`}` : "no",
                  ],
                  [
                    "Address",
                    <a key="a" href={`/address/${record.ip}`}>
                      {record.ip}
                    </a>,
                  ],
                ]}
              />
            </Card>
            <DataBehind meta={record.meta} />
          </div>
          <Snippets lookup={{ path: `/api/v1/reverse-dns/${record.ip}`, call: callOf("reverseDns", record.ip) }} record={record} />
        </>
      )}
    </Answered>
  );
}
