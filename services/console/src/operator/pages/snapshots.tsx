/** `/snapshots`: the kept snapshots, the pods that serve each, a comparison of two, and rollback. */

import type { KeptSnapshot, KeptSnapshots } from "@netfacts/contracts";
import { useState } from "preact/hooks";
import { count, counted, moment, words } from "../../domain/format.ts";
import { Card, Outside, Unknown } from "../../parts/basics.tsx";
import { navigate } from "../../router.ts";
import { useOperatorAnswer } from "../asking.ts";
import { Confirm } from "../parts/confirm.tsx";
import { FilterForm, useFilters } from "../parts/filters.tsx";
import { IngestAnswered } from "../parts/ingest-answered.tsx";
import { SectionRows } from "../parts/section-rows.tsx";
import { StateBadge } from "../parts/state-badge.tsx";
import { Table } from "../parts/table.tsx";
import { client } from "../session.ts";
import { podsBySnapshot, sectionChanges } from "../snapshot-changes.ts";
import { texts } from "../texts.ts";

const t = texts.snapshots;

export function SnapshotsPage() {
  const [answer, again] = useOperatorAnswer("snapshots", (client, signal) => client.listSnapshots(signal));
  return (
    <IngestAnswered answer={answer} again={again}>
      {(record) => <Snapshots record={record} again={again} />}
    </IngestAnswered>
  );
}

function Snapshots({ record: { items, pods }, again }: { readonly record: KeptSnapshots; readonly again: () => void }) {
  const [earlier, setEarlier] = useState<string | null>(null);
  const current = items.find(({ current }) => current);
  const isServed = current?.served === true;
  return (
    <>
      <h1>{items.length === 0 ? t.none : `${counted(items.length, "snapshot")}${isServed ? "; the current one is served." : "."}`}</h1>
      {items.length === 0 || isServed ? null : <p class="note">{t.notServed}</p>}
      <div class="buttons tools">
        <button type="button" class="quiet" onClick={again}>
          {t.again}
        </button>
      </div>
      <div class="cards">
        {items.length === 0 ? null : (
          <Card title={t.kept} wide>
            <Table label={t.kept} columns={t.columns}>
              {items.map((snapshot) => (
                <SnapshotRow key={snapshot.id} snapshot={snapshot} rollBack={current === undefined ? null : setEarlier} />
              ))}
            </Table>
          </Card>
        )}
        <Pods pods={pods} />
        {items.length < 2 ? null : <Compare items={items} />}
      </div>
      {earlier === null || current === undefined ? null : (
        <RollBack snapshot={earlier} replaces={current.id} close={() => setEarlier(null)} refused={again} />
      )}
    </>
  );
}

interface RowProps {
  readonly snapshot: KeptSnapshot;
  /** Null: there is no current snapshot to replace. */
  readonly rollBack: ((id: string) => void) | null;
}

function SnapshotRow({ snapshot: { id, current, served, sample_data, sections }, rollBack }: RowProps) {
  return (
    <tr>
      <th scope="row">{id}</th>
      <td>
        {current ? <StateBadge state="current" /> : null} {served ? <StateBadge state="served" /> : null}{" "}
        {sample_data ? <StateBadge state="sample" /> : null}
      </td>
      <td class="long">{sections.map(({ name, as_of }) => `${words(name)} of ${moment(as_of)}`).join("; ")}</td>
      <td>
        {current || rollBack === null ? null : (
          <button type="button" class="quiet" aria-label={t.rollBackTo(id)} onClick={() => rollBack(id)}>
            {t.rollBack}
          </button>
        )}
      </td>
    </tr>
  );
}

interface RollBackProps {
  readonly snapshot: string;
  readonly replaces: string;
  readonly close: () => void;
  readonly refused: () => void;
}

function RollBack({ snapshot, replaces, close, refused }: RollBackProps) {
  return (
    <Confirm
      title={t.rollBackTitle}
      action={t.rollBack}
      isFinal
      change={async () => {
        const { id } = await client.value.rollBack({ snapshot, replaces });
        navigate(`/runs/${encodeURIComponent(id)}`);
      }}
      close={close}
      refused={refused}
    >
      <p>
        <strong>{snapshot}</strong> {t.becomes} <strong>{replaces}</strong>.
      </p>
      <p>{t.consequence}</p>
    </Confirm>
  );
}

function Pods({ pods }: { readonly pods: KeptSnapshots["pods"] }) {
  if (pods === null)
    return (
      <Card title={t.pods}>
        <Unknown why={t.podsUnknown} />
      </Card>
    );
  const refused = pods.filter(({ outcome }) => outcome === "refused");
  return (
    <Card title={t.pods} wide>
      {pods.length === 0 ? <Unknown why={t.noPods} /> : null}
      {refused.map(({ pod, snapshot, reason }) => (
        <p key={pod} class="note">
          <Outside text={pod} /> {t.rejected} {snapshot}: {reason === null ? t.noReason : <Outside text={reason} />}
        </p>
      ))}
      <ul class="plain">
        {podsBySnapshot(pods).map(({ snapshot, pods }) => (
          <li key={snapshot}>
            <strong>{snapshot ?? t.servesNone}</strong>: {counted(pods.length, "pod")}{" "}
            <span class="detail">
              {pods.map((pod, at) => (
                <>
                  {at === 0 ? "" : ", "}
                  <Outside text={pod} />
                </>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Compare({ items }: { readonly items: readonly KeptSnapshot[] }) {
  const [given, change] = useFilters(["from", "to", "section"]);
  const { section } = given;
  const ids = { from: given.from || (items[1]?.id ?? ""), to: given.to || (items[0]?.id ?? "") };
  const [from, to] = [ids.from, ids.to].map((id) => items.find((item) => item.id === id));
  const gone = [from === undefined ? ids.from : "", to === undefined ? ids.to : ""].filter((id) => id !== "");
  const sections = from === undefined || to === undefined ? [] : sectionChanges(from, to);
  const choice = (name: "from" | "to") => (
    <label>
      {t[name]}{" "}
      <select value={ids[name]} onChange={({ currentTarget }) => change({ ...ids, [name]: currentTarget.value, section: "" })}>
        {items.map(({ id }) => (
          <option key={id} value={id}>
            {id}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <Card title={t.compare} wide>
      <div class="buttons tools">
        {choice("from")} {choice("to")}
      </div>
      {from === undefined || to === undefined ? (
        <Unknown why={t.notKept(gone.join(", "))} />
      ) : (
        <>
          <Table label={t.compare} columns={t.compareColumns}>
            {sections.map(({ name, from, to, counts }) => (
              <tr key={name}>
                <th scope="row">{words(name)}</th>
                <td>{from ?? t.lacks}</td>
                <td>{to ?? t.lacks}</td>
                <td>
                  {counts.map(({ kind, from, to }) => (
                    <p key={kind}>
                      {words(kind)}: {from === null ? t.lacks : count(from)} → {to === null ? t.lacks : count(to)}
                      {from === null || to === null || from === to ? "" : ` (${to > from ? "+" : "−"}${count(Math.abs(to - from))})`}
                    </p>
                  ))}
                </td>
              </tr>
            ))}
          </Table>
          <FilterForm filters={{ section: section || (sections[0]?.name ?? "") }} change={(chosen) => change({ ...ids, ...chosen })}>
            <label>
              {t.rowsOf}{" "}
              <select name="section">
                {sections.map(({ name }) => (
                  <option key={name} value={name}>
                    {words(name)}
                  </option>
                ))}
              </select>
            </label>
            <button type="submit" class="quiet">
              {t.rowsShow}
            </button>
          </FilterForm>
          {section === "" ? null : <SectionRows {...ids} section={section} />}
        </>
      )}
    </Card>
  );
}
