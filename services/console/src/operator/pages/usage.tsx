/** `/usage`: the usage of keys in a month, as bars, as a table and as CSV. */

import type { UsageItem, UsageItems } from "@netfacts/contracts";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Failure, failureOf } from "../../asked.ts";
import { count, counted } from "../../domain/format.ts";
import { Card, Outside, Unknown } from "../../parts/basics.tsx";
import { Answered, Failed } from "../../parts/failed.tsx";
import { useFurtherPages } from "../../parts/further-pages.ts";
import { serverNowMs } from "../../server-clock.ts";
import { texts as shared } from "../../texts.ts";
import { useOperatorAnswer } from "../asking.ts";
import type { Query } from "../operator-client.ts";
import { BarList, DayBars } from "../parts/bars.tsx";
import { FilterForm, useFilters } from "../parts/filters.tsx";
import { Table } from "../parts/table.tsx";
import { saveFile } from "../save-file.ts";
import { client } from "../session.ts";
import { texts } from "../texts.ts";
import { dayBars, groupings, membersOf, monthOf, topBars } from "../usage-days.ts";

/** Longest page of the API. */
const limit = 1_000;
const allMembers = "key,day,route_class";
const t = texts.usage;

export function UsagePage() {
  const [given, change] = useFilters(["month", "key", "by"]);
  const filters = { ...given, month: given.month || monthOf(serverNowMs()), by: groupings.find((name) => name === given.by) ?? allMembers };
  const { month, key, by } = filters;
  const query = { month, key_id: key };
  return (
    <>
      <h1>{t.title}</h1>
      <FilterForm filters={filters} change={change}>
        <label>
          {t.month} <input name="month" required pattern="\d{4}-(0[1-9]|1[0-2])" size={8} />
        </label>
        <label>
          {t.key} <input name="key" pattern="[A-Za-z0-9_\-]{1,64}" size={10} />
        </label>
        <label>
          {t.by}{" "}
          <select name="by">
            {groupings.map((name) => (
              <option key={name} value={name}>
                {membersOf(name)
                  .map((member) => t.columns[member].toLowerCase())
                  .join(", ")}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">{t.show}</button>
      </FilterForm>
      <div class="cards">
        <Chart title={t.days} query={{ ...query, by: "day" }} wide>
          {({ from, to, items }) => <DayBars label={t.days} bars={dayBars(from, to, items)} />}
        </Chart>
        <Chart title={t.keys} query={{ ...query, by: "key" }}>
          {({ items }) => <BarList bars={topBars(items, ({ key_id }) => key_id ?? "")} />}
        </Chart>
        <Chart title={t.classes} query={{ ...query, by: "route_class" }}>
          {({ items }) => <BarList bars={topBars(items, ({ route_class }) => route_class ?? "")} />}
        </Chart>
        <Rows query={{ ...query, by }} />
      </div>
    </>
  );
}

interface ChartProps {
  readonly title: string;
  readonly query: Query;
  readonly wide?: boolean;
  readonly children: (items: UsageItems) => ComponentChildren;
}

function Chart({ title, query, wide = false, children }: ChartProps) {
  const [answer, again] = useOperatorAnswer(JSON.stringify(query), (client, signal) => client.listUsage({ ...query, limit }, signal));
  return (
    <Card title={title} wide={wide}>
      <Answered answer={answer} again={again} isPart>
        {(record) => (
          <>
            {record.items.length === 0 ? <Unknown why={t.none} /> : children(record)}
            {record.next_cursor === null ? null : <p class="detail">{t.notAll(count(limit))}</p>}
          </>
        )}
      </Answered>
    </Card>
  );
}

function Rows({ query }: { readonly query: Query }) {
  const [answer, again] = useOperatorAnswer(JSON.stringify(query), (client, signal) => client.listUsage({ ...query, limit: 100 }, signal));
  return (
    <Card title={t.table} wide>
      <Answered answer={answer} again={again} isPart>
        {(first) => <RowsOf first={first} query={query} />}
      </Answered>
    </Card>
  );
}

function RowsOf({ first, query }: { readonly first: UsageItems; readonly query: Query }) {
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isSaving, setSaving] = useState(false);
  const pages = useFurtherPages<UsageItem>(first, (cursor, signal) => client.value.listUsage({ ...query, limit, cursor }, signal));
  const members = membersOf(String(query.by));
  const save = () => {
    if (isSaving) return;
    setFailure(null);
    setSaving(true);
    client.value
      .usageCsv(query)
      .then(
        (csv) => saveFile(csv, `netfacts-usage-${query.month}.csv`),
        (error) => setFailure(failureOf(error)),
      )
      .finally(() => setSaving(false));
  };
  return (
    <>
      <p class="lead">
        {counted(first.total.counted, "request")} counted towards quotas, {count(first.total.uncounted)} not counted, from {first.from} to{" "}
        {first.to}.
      </p>
      <div class="buttons tools">
        <button type="button" aria-disabled={isSaving} onClick={save}>
          {t.csv}
        </button>
      </div>
      {failure === null ? null : <Failed failure={failure} again={save} />}
      {pages.items.length === 0 ? (
        <Unknown why={t.none} />
      ) : (
        <Table label={t.table} columns={[...members.map((member) => t.columns[member]), t.counted, t.uncounted]}>
          {pages.items.map((item) => (
            <tr key={`${item.key_id} ${item.day} ${item.route_class}`}>
              {members.map((member) => (
                <td key={member}>{member === "key" ? <KeyCell id={item.key_id ?? ""} /> : <Outside text={item[member] ?? ""} />}</td>
              ))}
              <td class="number">{count(item.counted)}</td>
              <td class="number">{count(item.uncounted)}</td>
            </tr>
          ))}
        </Table>
      )}
      {pages.failure === null ? null : <Failed failure={pages.failure} again={() => pages.more?.()} />}
      {pages.more === null ? null : (
        <button type="button" class="quiet" aria-disabled={pages.isLoading} onClick={pages.more}>
          {shared.loadMore}
        </button>
      )}
    </>
  );
}

function KeyCell({ id }: { readonly id: string }) {
  return (
    <a href={`/keys/${encodeURIComponent(id)}`}>
      <Outside text={id} />
    </a>
  );
}
