/** `/audit`: changes by operators, newest first. */

import type { AuditRecord, AuditRecords } from "@netfacts/contracts";
import { counted, moment } from "../../domain/format.ts";
import { Outside, Unknown } from "../../parts/basics.tsx";
import { Answered, Failed } from "../../parts/failed.tsx";
import { useFurtherPages } from "../../parts/further-pages.ts";
import { texts as shared } from "../../texts.ts";
import { useOperatorAnswer } from "../asking.ts";
import type { Query } from "../operator-client.ts";
import { FilterForm, useFilters } from "../parts/filters.tsx";
import { Table } from "../parts/table.tsx";
import { client } from "../session.ts";
import { texts } from "../texts.ts";

const limit = 100;
/** Most characters of the details of an entry: they are longer than a name if a key has many networks. */
const detailsMax = 20_000;
const t = texts.audit;

export function AuditPage() {
  const [filters, change] = useFilters(["actor", "action", "target", "from", "to"]);
  const startOf = (day: string) => (day === "" ? "" : `${day}T00:00:00Z`);
  const query = { ...filters, from: startOf(filters.from), to: startOf(filters.to) };
  const [answer, again] = useOperatorAnswer(JSON.stringify(query), (client, signal) => client.listAudit({ ...query, limit }, signal));
  return (
    <>
      <h1>{t.title}</h1>
      <FilterForm filters={filters} change={change}>
        {(["actor", "action", "target"] as const).map((name) => (
          <label key={name}>
            {t[name]} <input name={name} size={14} placeholder={t.examples[name]} autocomplete="off" spellcheck={false} />
          </label>
        ))}
        <label>
          {t.from} <input name="from" type="date" />
        </label>
        <label>
          {t.to} <input name="to" type="date" />
        </label>
        <button type="submit">{t.show}</button>
      </FilterForm>
      <Answered answer={answer} again={again} isPart>
        {(first) => <Entries first={first} query={query} />}
      </Answered>
    </>
  );
}

function Entries({ first, query }: { readonly first: AuditRecords; readonly query: Query }) {
  const { items, more, isLoading, failure } = useFurtherPages<AuditRecord>(first, (cursor, signal) =>
    client.value.listAudit({ ...query, limit, cursor }, signal),
  );
  if (items.length === 0) return <Unknown why={t.none} />;
  return (
    <>
      <p class="detail" role="status">
        {counted(items.length, "entry", "entries")}
        {more === null ? "" : t.notAll}
      </p>
      <Table label={t.title} columns={t.columns}>
        {items.map(({ id, at, actor, action, target, address, details }) => (
          <tr key={id}>
            <td>{moment(at)}</td>
            <td>
              <Outside text={actor} />
            </td>
            <td>{action}</td>
            <td>{target === null ? "none" : <Outside text={target} />}</td>
            <td>{address === null ? "unknown" : <Outside text={address} />}</td>
            <td class="long">
              {details === null ? (
                "none"
              ) : (
                <details>
                  <summary>{t.details}</summary>
                  <code>
                    <Outside text={JSON.stringify(details)} charactersMax={detailsMax} />
                  </code>
                </details>
              )}
            </td>
          </tr>
        ))}
      </Table>
      {failure === null ? null : <Failed failure={failure} again={() => more?.()} />}
      {more === null ? null : (
        <button type="button" class="quiet" aria-disabled={isLoading} onClick={more}>
          {shared.loadMore}
        </button>
      )}
    </>
  );
}
