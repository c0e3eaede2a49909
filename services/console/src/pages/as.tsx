/** `/as/AS3333`. */

import type { AsnRecord } from "@netfacts/client";
import { useMemo } from "preact/hooks";
import { useAnswer } from "../answer.ts";
import { count, moment, registryName, share } from "../domain/format.ts";
import { asSentence } from "../domain/sentences.ts";
import { callOf } from "../domain/snippets.ts";
import { AddressMapCard } from "../parts/address-map.tsx";
import { AsVrpsCard } from "../parts/as-vrps.tsx";
import { Card, Facts, Outside, PrefixLink, Unknown, UnknownRouting } from "../parts/basics.tsx";
import { Answered } from "../parts/failed.tsx";
import { Further } from "../parts/further.tsx";
import { NeighboursCard } from "../parts/neighbours.tsx";
import { pageItems, usePages } from "../parts/pages.ts";
import { Country, NetworkTypesCard } from "../parts/registration.tsx";
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
            {record.rpki?.vrps_for_this_as ? <AsVrpsCard asn={record.asn} total={record.rpki.vrps_for_this_as} /> : null}
            <Prefixes record={record} again={again} />
            <NeighboursCard record={record} />
            <DataBehind meta={record.meta} />
          </div>
          <Snippets lookup={{ path: `/api/v1/asn/AS${record.asn}`, call: callOf("asn", `AS${record.asn}`) }} record={record} />
        </>
      )}
    </Answered>
  );
}

/** The text of a count; null, which is shown as unknown, if it is unknown. */
function known(value: number | null | undefined): string | null {
  return value === null || value === undefined ? null : count(value);
}

function Counts({ record }: { readonly record: AsnRecord }) {
  const { announced, counts, first_seen_at, last_seen_at } = record;
  if (announced === null || counts === null) return <UnknownRouting record={record} />;
  const { ipv4, ipv6 } = counts;
  return (
    <Facts
      facts={[
        ["IPv4 prefixes", known(ipv4?.prefixes)],
        ["IPv4 addresses", known(ipv4?.addresses)],
        ["IPv6 prefixes", known(ipv6?.prefixes)],
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

function Prefixes({ record, again }: { readonly record: AsnRecord; readonly again: () => void }) {
  const { prefixes: first, asn } = record;
  const pages = usePages(
    first,
    async (client, cursor, signal) => (await client.asn(asn, { cursor, limit: pageItems, signal })).prefixes,
    again,
  );
  const { items, settled } = pages;
  const mapped = useMemo(
    () =>
      settled.map(({ prefix, rpki_state, is_moas }) => ({
        prefix,
        rpki: rpki_state,
        origin: is_moas === null ? texts.unknown : is_moas ? texts.map.severalOrigins : texts.map.onlyOrigin(`AS${asn}`),
      })),
    [settled, asn],
  );
  if (items.length === 0) return null;
  return (
    <>
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
        <Further pages={pages} total={first.total} />
      </Card>
      <AddressMapCard items={mapped} isCut={pages.isCut} subject={null} empty={texts.map.nothing} />
    </>
  );
}
