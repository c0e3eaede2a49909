/** `/address/193.0.6.139`. */

import type { RoutingRecord } from "@netfacts/client";
import { useAnswer } from "../answer.ts";
import { count } from "../domain/format.ts";
import { ipSentence } from "../domain/sentences.ts";
import { callOf } from "../domain/snippets.ts";
import { Card, Facts, Outside, PrefixLink, Unknown, UnknownRouting } from "../parts/basics.tsx";
import { Answered } from "../parts/failed.tsx";
import { AllocationFacts, LocationCard, NetworkTypesCard } from "../parts/registration.tsx";
import { Related } from "../parts/related.tsx";
import { Origins, VisibilityBar } from "../parts/routing.tsx";
import { RpkiOfOrigins } from "../parts/rpki.tsx";
import { DataBehind, Snippets } from "../parts/shown-as.tsx";
import { texts } from "../texts.ts";

export function AddressPage({ ip }: { readonly ip: string }) {
  const [answer, again] = useAnswer(ip, (client, signal) => client.ip(ip, { signal }));
  return (
    <Answered answer={answer} again={again}>
      {(record) => (
        <>
          <h1>{ipSentence(record)}</h1>
          <div class="cards">
            <Card title={texts.cards.registration}>
              {record.special_purpose === null ? null : (
                <Facts
                  facts={[
                    ["Special use", <Outside key="n" text={record.special_purpose.name} />],
                    ["Reserved by", record.special_purpose.rfc],
                    ["Block", record.special_purpose.block],
                  ]}
                />
              )}
              {record.allocation === null ? (
                <Unknown why={record.meta.data.allocations === undefined ? texts.reasons.noAllocations : texts.reasons.notListed} />
              ) : (
                <AllocationFacts allocation={record.allocation} flag={record.country_flag} />
              )}
            </Card>
            <Card title={texts.cards.routing}>
              {record.routing.announced === null ? (
                <UnknownRouting record={record} />
              ) : record.routing.prefix === null ? (
                <p>No announced prefix holds this address.</p>
              ) : (
                <>
                  <p class="lead">
                    <PrefixLink prefix={record.routing.prefix} />
                  </p>
                  {record.routing.visibility === null || record.routing.origins?.length === 1 ? null : (
                    <VisibilityBar visibility={record.routing.visibility} />
                  )}
                  <h3>Origins</h3>
                  <Origins origins={record.routing.origins ?? []} asSets={record.routing.as_set_origins ?? []} />
                </>
              )}
            </Card>
            {record.routing.announced ? <RoutingCards ip={ip} /> : null}
            <NetworkTypesCard
              types={record.network_types ?? []}
              areUnknown={record.network_type === null && !record.network_types?.length}
            />
            <LocationCard location={record.location} />
            <Card title="Names in DNS">
              <p>
                <a href={`/reverse-dns/${record.ip}`}>Ask DNS for the names of {record.ip}</a>
              </p>
            </Card>
            <DataBehind meta={record.meta} />
          </div>
          <Snippets lookup={{ path: `/api/v1/ip/${record.ip}`, call: callOf("ip", record.ip) }} record={record} />
        </>
      )}
    </Answered>
  );
}

/** RPKI with its reasons, and related prefixes, which need a separate request. */
function RoutingCards({ ip }: { readonly ip: string }) {
  const [answer, again] = useAnswer(ip, (client, signal) => client.routing(ip, { include: ["more_specifics"], signal }));
  return (
    <Answered answer={answer} again={again} isPart>
      {(record) => (
        <>
          <Card title={texts.cards.rpki}>
            <RpkiOfOrigins record={record} />
          </Card>
          {record.less_specifics?.length ? (
            <Card title={`${texts.cards.less} (${record.less_specifics.length})`}>
              <Related label={texts.cards.less} items={record.less_specifics} />
            </Card>
          ) : null}
          <MoreSpecifics record={record} />
        </>
      )}
    </Answered>
  );
}

/** The first prefixes inside the match; the page of the match has all of them. */
function MoreSpecifics({ record: { match, more_specifics } }: { readonly record: RoutingRecord }) {
  const items = more_specifics?.items ?? [];
  if (more_specifics === undefined || items.length === 0) return null;
  const total = more_specifics.count === null ? texts.unknown : count(more_specifics.count);
  return (
    <Card title={`${texts.cards.more} (${total})`}>
      <Related label={texts.cards.more} items={items} />
      {more_specifics.truncated && match.prefix !== null ? (
        <p>
          {texts.further.shown(count(items.length), total)} <a href={`/prefix/${match.prefix}`}>{texts.further.rest(match.prefix)}</a>
        </p>
      ) : null}
    </Card>
  );
}
