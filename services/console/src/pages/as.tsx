/** `/as/AS3333`. */

import type { AsnRecord } from "@netfacts/client";
import { useAnswer } from "../answer.ts";
import { count, moment, share } from "../domain/format.ts";
import { asSentence } from "../domain/sentences.ts";
import { callOf } from "../domain/snippets.ts";
import { AsLink, Card, Facts, Outside, PrefixLink, Unknown, UnknownRouting } from "../parts/basics.tsx";
import { Answered, Failed } from "../parts/failed.tsx";
import { usePages } from "../parts/pages.ts";
import { Country, NetworkTypesCard, registryName } from "../parts/registration.tsx";
import { RpkiBadge } from "../parts/rpki.tsx";
import { DataBehind, Snippets } from "../parts/shown-as.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { texts } from "../texts.ts";

export function AsPage({ asn }: { readonly asn: string }) {
  const [answer, again] = useAnswer(asn, (client, signal) => client.asn(asn, { signal }));
  return (
    <Answered answer={answer} again={again}>
      {(record) => (
        <>
          <h1>{asSentence(record)}</h1>
          <div class="cards">
            <Card title={texts.cards.registration}>
              <Facts
                facts={[
                  [
                    "Name",
                    record.name === null ? <span class="unknown">{texts.reasons.noName}</span> : <Outside key="n" text={record.name} />,
                  ],
                  ["Organisation", record.organisation === null ? null : <Outside key="o" text={record.organisation} />],
                  ["Registry", record.registry === null ? null : registryName(record.registry)],
                  ["Country of registration", <Country key="c" code={record.registration_country} flag={record.country_flag} />],
                  ["Status", record.status],
                  ["Since", record.allocated_on],
                ]}
              />
            </Card>
            <Card title={texts.cards.routing}>
              <Counts record={record} />
            </Card>
            <Card title={texts.cards.rpki}>
              <Rpki record={record} />
            </Card>
            <NetworkTypesCard
              types={record.network_types ?? []}
              areUnknown={record.network_type === null && !record.network_types?.length}
            />
            <Neighbours record={record} />
            <Prefixes record={record} />
            <DataBehind meta={record.meta} />
          </div>
          <Snippets lookup={{ path: `/api/v1/asn/AS${record.asn}`, call: callOf("asn", `AS${record.asn}`) }} record={record} />
        </>
      )}
    </Answered>
  );
}

function Counts({ record }: { readonly record: AsnRecord }) {
  const { announced, counts, first_seen_at, last_seen_at } = record;
  if (announced === null || counts === null) return <UnknownRouting record={record} />;
  const { ipv4, ipv6 } = counts;
  return (
    <Facts
      facts={[
        ["IPv4 prefixes", ipv4 === null ? null : count(ipv4.prefixes ?? 0)],
        ["IPv4 addresses", ipv4 === null ? null : count(ipv4.addresses ?? 0)],
        ["IPv6 prefixes", ipv6 === null ? null : count(ipv6.prefixes ?? 0)],
        ["First seen", first_seen_at === null ? null : moment(first_seen_at)],
        ["Last seen", last_seen_at === null ? null : moment(last_seen_at)],
      ]}
    />
  );
}

function Rpki({ record: { rpki, aspa } }: { readonly record: AsnRecord }) {
  if (rpki === null || rpki.valid === null) return <Unknown why={texts.reasons.noVrps} />;
  return (
    <Facts
      facts={[
        ["Valid prefixes", `${count(rpki.valid)}${rpki.valid_share === null ? "" : ` (${share(rpki.valid_share)})`}`],
        ["Invalid prefixes", rpki.invalid === null ? null : count(rpki.invalid)],
        ["Not found", rpki.not_found === null ? null : count(rpki.not_found)],
        ["ROAs for this AS", rpki.vrps_for_this_as === null ? null : count(rpki.vrps_for_this_as)],
        ["ASPA", aspa === null || aspa.present === null ? null : aspa.present ? "published" : "not published"],
      ]}
    />
  );
}

function Neighbours({ record: { neighbours } }: { readonly record: AsnRecord }) {
  const items = neighbours?.items ?? [];
  if (items.length === 0) return null;
  return (
    <Card title={texts.cards.neighbours}>
      <p class="detail">{texts.neighbours}</p>
      <VirtualList
        label={texts.cards.neighbours}
        items={items}
        row={({ asn, name, position, share: part }) => (
          <span class="row">
            <span class="fill">
              <AsLink asn={asn} name={name} />
            </span>
            <span class="detail">
              {position}
              {part === null ? "" : ` · ${share(part)}`}
            </span>
          </span>
        )}
      />
    </Card>
  );
}

function Prefixes({ record }: { readonly record: AsnRecord }) {
  const { prefixes: first, asn } = record;
  const { items, more, isLoading, failure } = usePages(
    first,
    async (client, cursor, signal) => (await client.asn(asn, { cursor, limit: 1_000, signal })).prefixes,
  );
  if (items.length === 0) return null;
  return (
    <Card title={`${texts.cards.prefixes} (${first.total === null ? texts.unknown : count(first.total)})`}>
      <VirtualList
        label={texts.cards.prefixes}
        items={items}
        row={({ prefix, visibility_ratio, rpki_state, is_moas }) => (
          <span class="row">
            <span class="fill">
              <PrefixLink prefix={prefix} />
            </span>
            <span class="detail">
              {is_moas ? "several origins · " : ""}
              {visibility_ratio === null ? "" : share(visibility_ratio)}
            </span>
            <RpkiBadge state={rpki_state} />
          </span>
        )}
      />
      {failure !== null && more !== null ? <Failed failure={failure} again={more} /> : null}
      {more !== null && failure === null ? (
        <button type="button" onClick={more} disabled={isLoading}>
          {isLoading ? texts.loading : texts.loadMore}
        </button>
      ) : null}
    </Card>
  );
}
