/** The ROAs for an AS. They are requested only when the list is opened, because they need a separate request. */

import type { AsnVrpsRecord } from "@netfacts/client";
import { useState } from "preact/hooks";
import { useAnswer } from "../answer.ts";
import { count } from "../domain/format.ts";
import { lengthOf } from "../domain/prefix-length.ts";
import { texts } from "../texts.ts";
import { Card, PrefixLink } from "./basics.tsx";
import { Answered } from "./failed.tsx";
import { Further } from "./further.tsx";
import { pageItems, usePages } from "./pages.ts";
import { VirtualList } from "./virtual-list.tsx";

/** @param total  number of ROAs. */
export function AsVrpsCard({ asn, total }: { readonly asn: number; readonly total: number }) {
  const [wasOpened, setWasOpened] = useState(false);
  return (
    <Card title={`${texts.cards.vrps} (${count(total)})`}>
      <p class="detail">{asn === 0 ? texts.vrps.forbidden : texts.vrps.what}</p>
      <details onToggle={({ currentTarget }) => setWasOpened((before) => before || currentTarget.open)}>
        <summary>{texts.vrps.show}</summary>
        {wasOpened ? <AsVrps asn={asn} /> : null}
      </details>
    </Card>
  );
}

function AsVrps({ asn }: { readonly asn: number }) {
  const [isUnused, setUnused] = useState(false);
  const filter = isUnused ? { announced: false } : {};
  const [answer, again] = useAnswer(`${asn} ${isUnused}`, (client, signal) => client.asnVrps(asn, { ...filter, signal }));
  return (
    <>
      {asn === 0 ? null : (
        <p>
          <label>
            <input type="checkbox" checked={isUnused} onChange={({ currentTarget }) => setUnused(currentTarget.checked)} />{" "}
            {texts.vrps.unused}
          </label>
        </p>
      )}
      <Answered answer={answer} again={again} isPart>
        {(record) => <List record={record} filter={filter} again={again} />}
      </Answered>
    </>
  );
}

interface ListProps {
  readonly record: AsnVrpsRecord;
  readonly filter: { readonly announced?: boolean };
  readonly again: () => void;
}

function List({ record: { asn, counts, vrps: first }, filter, again }: ListProps) {
  const pages = usePages(
    first,
    async (client, cursor, signal) => (await client.asnVrps(asn, { ...filter, cursor, limit: pageItems, signal })).vrps,
    again,
  );
  const { items } = pages;
  return (
    <>
      {asn === 0 ? null : <p class="detail">{countsSentence(counts)}</p>}
      {items.length === 0 ? null : (
        <VirtualList
          label={texts.cards.vrps}
          items={items}
          row={({ prefix, max_length, announced_prefixes, max_length_loose }) => (
            <span class="row">
              <span class="fill">
                <PrefixLink prefix={prefix} />
              </span>
              <span class="detail">{max_length === lengthOf(prefix) ? "" : texts.vrps.upTo(max_length)}</span>
              {asn === 0 ? null : <Use announced={announced_prefixes} isLoose={max_length_loose} />}
            </span>
          )}
        />
      )}
      <Further pages={pages} total={first.total} />
    </>
  );
}

function countsSentence(counts: AsnVrpsRecord["counts"]): string {
  if (counts === null || counts.unannounced === null) return texts.vrps.unknown;
  const [all, unused] = [count(counts.vrps), count(counts.unannounced)];
  return counts.unannounced === 0 ? texts.vrps.allUsed(all) : texts.vrps.someUnused(unused, all);
}

interface UseProps {
  /** Number of announced prefixes that the ROA allows. */
  readonly announced: number | null;
  readonly isLoose: boolean | null;
}

function Use({ announced, isLoose }: UseProps) {
  const { use } = texts.vrps;
  if (announced === null) return <span class="badge unknown">{texts.unknown}</span>;
  if (announced === 0) return <span class="badge not-found">{use.none}</span>;
  return isLoose ? <span class="badge not-found">{use.loose}</span> : <span class="badge valid">{use.announced}</span>;
}
