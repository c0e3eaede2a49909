/** `/prefix/193.0.0.0/21`. */

import type { PrefixRecord, RelatedPrefix } from "@netfacts/client";
import { useMemo } from "preact/hooks";
import { useAnswer } from "../answer.ts";
import type { MapItem } from "../domain/address-map.ts";
import { count } from "../domain/format.ts";
import { lengthOf } from "../domain/prefix-length.ts";
import { originWords, prefixSentence } from "../domain/sentences.ts";
import { callOf } from "../domain/snippets.ts";
import { AddressMapCard } from "../parts/address-map.tsx";
import { Card, Facts, Outside, PrefixLink, Unknown, UnknownRouting } from "../parts/basics.tsx";
import { Answered } from "../parts/failed.tsx";
import { pageItems, usePages } from "../parts/pages.ts";
import { PrefixTreeCard, shortOrigins } from "../parts/prefix-tree.tsx";
import { AllocationFacts } from "../parts/registration.tsx";
import { Origins, VisibilityBar } from "../parts/routing.tsx";
import { RpkiOfOrigins } from "../parts/rpki.tsx";
import { DataBehind, Snippets } from "../parts/shown-as.tsx";
import { texts } from "../texts.ts";

export function PrefixPage({ prefix }: { readonly prefix: string }) {
  const [answer, again] = useAnswer(prefix, (client, signal) => client.prefix(prefix, { signal }));
  return (
    <Answered answer={answer} again={again}>
      {(record) => (
        <>
          <h1>{prefixSentence(record)}</h1>
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
              <Registered allocation={record.allocation} isLoaded={record.meta.data.allocations !== undefined} />
            </Card>
            <Card title={texts.cards.routing}>
              <Routed record={record} />
            </Card>
            <Card title={texts.cards.rpki}>
              <RpkiOfOrigins record={record} />
            </Card>
            <Around record={record} again={again} />
            <DataBehind meta={record.meta} />
          </div>
          <Snippets lookup={{ path: `/api/v1/prefix/${record.prefix}`, call: callOf("prefix", record.prefix) }} record={record} />
        </>
      )}
    </Answered>
  );
}

/** Most blocks that a card shows. */
const blocksMax = 5;

function Registered({ allocation, isLoaded }: { readonly allocation: PrefixRecord["allocation"]; readonly isLoaded: boolean }) {
  if (allocation === null || allocation.blocks.length === 0)
    return <Unknown why={isLoaded ? texts.reasons.notListed : texts.reasons.noAllocations} />;
  return (
    <>
      {allocation.blocks.slice(0, blocksMax).map((block) => (
        <AllocationFacts key={JSON.stringify(block.block)} allocation={block} />
      ))}
      {(allocation.total ?? 0) > blocksMax ? <p class="detail">{count((allocation.total ?? 0) - blocksMax)} more blocks</p> : null}
    </>
  );
}

function Routed({ record }: { readonly record: PrefixRecord }) {
  const { announced, match, visibility, origins, as_set_origins } = record;
  if (announced === null) return <UnknownRouting record={record} />;
  if (match === null || match.prefix === null) return <p>Neither this prefix nor one that covers it is announced.</p>;
  return (
    <>
      {match.type === "exact" ? null : (
        <p>
          Covered by <PrefixLink prefix={match.prefix} />:
        </p>
      )}
      {visibility === null || origins?.length === 1 ? null : <VisibilityBar visibility={visibility} />}
      <h3>Origins</h3>
      <Origins origins={origins ?? []} asSets={as_set_origins ?? []} />
    </>
  );
}

/** Related prefixes as a tree and on a map; both show the loaded part of the list. */
function Around({ record, again }: { readonly record: PrefixRecord; readonly again: () => void }) {
  const { prefix, announced, rpki, less_specifics, more_specifics } = record;
  const pages = usePages(
    more_specifics,
    async (client, cursor, signal) => (await client.prefix(prefix, { cursor, limit: pageItems, signal })).more_specifics,
    again,
  );
  const mapped = useMemo(
    () => [
      // Covering prefixes cover the whole map; the nearest one names the origin.
      ...(announced
        ? [itemOf({ prefix, rpki_state: rpki.state, ...shortOrigins(record) })]
        : [...(less_specifics ?? [])].sort((a, b) => lengthOf(a.prefix) - lengthOf(b.prefix)).map(itemOf)),
      ...pages.settled.map(itemOf),
    ],
    [record, pages.settled],
  );
  return (
    <>
      <PrefixTreeCard record={record} pages={pages} />
      <AddressMapCard items={mapped} isCut={pages.isCut} subject={prefix} empty={texts.map.nothing} />
    </>
  );
}

function itemOf(related: Omit<RelatedPrefix, "visibility_ratio">): MapItem {
  return { prefix: related.prefix, rpki: related.rpki_state, origin: originWords(related) };
}
