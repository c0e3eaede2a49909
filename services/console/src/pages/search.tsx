/** `/search?q=ripe+ncc`: all results for a text. */

import type { Meta, SearchRecord, SearchResult } from "@netfacts/contracts";
import { useAnswer } from "../answer.ts";
import { counted } from "../domain/format.ts";
import { pageOf, searchedMax } from "../domain/search.ts";
import { callOf } from "../domain/snippets.ts";
import { Outside } from "../parts/basics.tsx";
import { Answered, Failed } from "../parts/failed.tsx";
import { usePages } from "../parts/pages.ts";
import { MarkedTitle, typeNames } from "../parts/search-result.tsx";
import { DataBehind, Snippets } from "../parts/shown-as.tsx";
import { texts } from "../texts.ts";

/** @param q  trimmed text; empty: the page explains how to search. */
export function SearchPage({ q }: { readonly q: string }) {
  if (q === "") return <Said title={texts.results.title} text={texts.results.lead} />;
  if ([...q].length > searchedMax) return <Said title={texts.results.tooLong} text={texts.results.shorten} />;
  return <Results q={q} />;
}

function Said({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <>
      <h1>{title}</h1>
      <p>{text}</p>
    </>
  );
}

function Results({ q }: { readonly q: string }) {
  const [answer, again] = useAnswer(q, (client, signal) => client.search(q, { signal }));
  if (answer.state === "failed" && answer.failure.kind === "problem" && answer.failure.problem.code === "route_not_found")
    return <Said title={texts.results.noSearch} text={texts.results.noSearchDo} />;
  return (
    <Answered answer={answer} again={again}>
      {(record) => (
        <>
          <h1>
            {record.results.total === 0 ? texts.results.none : `${counted(record.results.total, "result")} for`} “<Outside text={q} />”
          </h1>
          <MissingData meta={record.meta} />
          {record.results.total === 0 ? <p>{texts.results.noneDo}</p> : <List q={q} record={record} again={again} />}
          <div class="cards">
            <DataBehind meta={record.meta} />
          </div>
          <Snippets lookup={{ path: `/api/v1/search?${new URLSearchParams({ q })}`, call: callOf("search", q) }} record={record} />
        </>
      )}
    </Answered>
  );
}

/** Notes about names that are not loaded. The answer has no warning for this, because other routes do not need these names. */
function MissingData({ meta: { data } }: { readonly meta: Meta }) {
  return (
    <>
      {data.as_names === undefined ? <p class="note">{texts.results.noNames}</p> : null}
      {data.profiles === undefined ? <p class="note">{texts.results.noOrganisations}</p> : null}
    </>
  );
}

function List({ q, record, again }: { readonly q: string; readonly record: SearchRecord; readonly again: () => void }) {
  const { items, more, isLoading, failure } = usePages(
    record.results,
    async (client, cursor, signal) => (await client.search(q, { cursor, signal })).results,
    again,
  );
  return (
    <>
      <ol class="results">
        {items.map((result, index) => (
          <li key={index}>
            <Result result={result} />
          </li>
        ))}
      </ol>
      {failure !== null && more !== null ? <Failed failure={failure} again={more} /> : null}
      {more !== null && failure === null ? (
        <button type="button" onClick={more} aria-disabled={isLoading}>
          {isLoading ? texts.loading : texts.loadMore}
        </button>
      ) : null}
    </>
  );
}

function Result({ result }: { readonly result: SearchResult }) {
  const page = pageOf(result.link);
  const title = <MarkedTitle result={result} />;
  return (
    <>
      {page === null ? <strong>{title}</strong> : <a href={page}>{title}</a>} <span class="badge">{typeNames[result.type]}</span>
      {result.match === "edit" ? <span class="detail"> {texts.results.similar}</span> : null}
      {result.subtitle === null ? null : (
        <div class="detail">
          <Outside text={result.subtitle} />
        </div>
      )}
      {page === null ? <div class="detail">{result.type === "country" ? texts.results.noCountry : texts.search.noPage}</div> : null}
    </>
  );
}
