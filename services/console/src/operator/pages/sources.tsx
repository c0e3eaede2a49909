/** `/sources`: the state of each source, the last runs, and the start of a new run. */

import type { IngestRunSummary, IngestSource, IngestSources } from "@netfacts/contracts";
import { useState } from "preact/hooks";
import { count, counted, duration, moment } from "../../domain/format.ts";
import { plainText } from "../../domain/plain-text.ts";
import { listed } from "../../domain/sentences.ts";
import { Card, Facts, Outside, Reason, Unknown } from "../../parts/basics.tsx";
import { navigate } from "../../router.ts";
import { serverNowMs } from "../../server-clock.ts";
import { useOperatorAnswer } from "../asking.ts";
import { Confirm } from "../parts/confirm.tsx";
import { IngestAnswered } from "../parts/ingest-answered.tsx";
import { StateBadge } from "../parts/state-badge.tsx";
import { Table } from "../parts/table.tsx";
import { usePolled } from "../polling.ts";
import { client } from "../session.ts";
import { adviceFor, failingFirst } from "../sources-order.ts";
import { texts } from "../texts.ts";

/** Interval of requests while a run is in progress, in ms. */
const everyMs = 2_000;
type Section = NonNullable<Parameters<typeof client.value.startRun>[0]["accept_shrink"]>[number];

export function SourcesPage() {
  const [sources, again] = useOperatorAnswer("sources", (client, signal) => client.listSources(signal));
  return (
    <IngestAnswered answer={sources} again={again}>
      {(record) => <Sources record={record} />}
    </IngestAnswered>
  );
}

function Sources({ record: { items, faults } }: { readonly record: IngestSources }) {
  const [isStarting, setStarting] = useState(false);
  const [runs, again] = usePolled(
    "runs",
    everyMs,
    (client, signal) => client.listRuns({ limit: 20 }, signal),
    ({ items }) => items.some(({ state }) => state === "running"),
  );
  const ordered = failingFirst(items);
  return (
    <>
      <h1>{sentenceOf(items, faults)}</h1>
      {faults.length === 0 ? null : (
        <div class="failed" role="alert">
          <h2>{texts.sources.faults}</h2>
          <ul>
            {faults.map((fault) => (
              <li key={fault}>
                <Reason text={fault} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {runs.state === "answered" ? <LastFailure run={runs.record.items[0]} /> : null}
      <div class="buttons tools">
        <button type="button" onClick={() => setStarting(true)}>
          {texts.sources.start}
        </button>
      </div>
      <div class="cards">
        {ordered.map((source) => (
          <SourceCard key={source.name} source={source} />
        ))}
        <Card title={texts.sources.runs} wide>
          <IngestAnswered answer={runs} again={again} isPart>
            {({ items }) =>
              items.length === 0 ? (
                <Unknown why={texts.sources.noRuns} />
              ) : (
                <Table label={texts.sources.runs} columns={texts.sources.runColumns}>
                  {items.map((run) => (
                    <RunRow key={run.id} run={run} />
                  ))}
                </Table>
              )
            }
          </IngestAnswered>
        </Card>
      </div>
      {isStarting ? <StartRun sources={items} close={() => setStarting(false)} refused={again} /> : null}
    </>
  );
}

/** The last run, if it failed: its sources do not show that the list could not be read. */
function LastFailure({ run }: { readonly run: IngestRunSummary | undefined }) {
  if (run?.state !== "failed") return null;
  return (
    <div class="failed">
      <h2>{texts.sources.lastFailed}</h2>
      <p>{run.error === null ? texts.run.noReport : <Reason text={run.error} />}</p>
      <p>
        {texts.sources.lastFailedDo} <a href={`/runs/${encodeURIComponent(run.id)}`}>{run.id}</a>
      </p>
    </div>
  );
}

function sentenceOf(sources: readonly IngestSource[], faults: readonly string[]): string {
  if (sources.length === 0) return faults.length > 0 ? texts.sources.unreadable : texts.sources.none;
  const named = (state: IngestSource["state"]) => sources.filter((source) => source.state === state).map(({ name }) => plainText(name));
  const failed = named("failed");
  const kept = named("kept");
  const stale = sources.filter(({ stale }) => stale === true).map(({ name }) => plainText(name));
  const parts = [
    ...(failed.length > 0 ? [`failed: ${listed(failed)}`] : []),
    ...(kept.length > 0 ? [`older version in service: ${listed(kept)}`] : []),
    ...(stale.length > 0 ? [`stale: ${listed(stale)}`] : []),
  ];
  return parts.length === 0
    ? `${counted(sources.length, "source")}, and none fails or is stale.`
    : `${counted(sources.length, "source")}; ${parts.join("; ")}.`;
}

function SourceCard({ source }: { readonly source: IngestSource }) {
  const advice = adviceFor(source);
  const { name, section, format, location, state, error, as_of, stale, accepted, skipped, run, schedule } = source;
  return (
    <section class="card">
      <h2>
        <Outside text={name} /> <StateBadge state={state} /> {stale === true ? <span class="badge invalid">stale</span> : null}
      </h2>
      {error === null ? null : (
        <p class="note">
          <Reason text={error} />
        </p>
      )}
      {advice === null ? null : <p>{advice}</p>}
      <Facts
        facts={[
          ["Section", `${section} (${format})`],
          ["Location", <Outside key="l" text={location} />],
          ["Data of", as_of === null ? null : `${moment(as_of)}, ${duration((serverNowMs() - Date.parse(as_of)) / 1_000)} old`],
          ["Records", accepted === null ? null : counted(accepted, "record")],
          ["Skipped", skipped === null ? null : counted(skipped, "record")],
          ["Next check", schedule === null ? null : schedule.next_check_at === null ? "none planned" : moment(schedule.next_check_at)],
          ["Failed checks", schedule === null ? null : count(schedule.failures)],
          [
            "Last run",
            run === null ? (
              "none stored"
            ) : (
              <a key="r" href={`/runs/${encodeURIComponent(run)}`}>
                {run}
              </a>
            ),
          ],
        ]}
      />
      {schedule === null ? <p class="detail">{texts.sources.noSchedule}</p> : null}
    </section>
  );
}

function RunRow({ run: { id, state, started_at, ended_at, started_by, snapshot, replaces, error } }: { readonly run: IngestRunSummary }) {
  return (
    <tr>
      <td>
        <a href={`/runs/${encodeURIComponent(id)}`}>{id}</a>
      </td>
      <td>
        <StateBadge state={state} />
      </td>
      <td>{moment(started_at)}</td>
      <td>{ended_at === null ? "" : duration((Date.parse(ended_at) - Date.parse(started_at)) / 1_000)}</td>
      <td>{started_by === null ? "unknown" : <Outside text={started_by} />}</td>
      <td>
        {snapshot ?? "none"}
        {replaces === null ? "" : `, ${texts.sources.rollback} ${replaces}`}
      </td>
      <td class="long">{error === null ? "" : <Outside text={error} />}</td>
    </tr>
  );
}

interface StartRunProps {
  readonly sources: readonly IngestSource[];
  readonly close: () => void;
  readonly refused: () => void;
}

function StartRun({ sources, close, refused }: StartRunProps) {
  const sections = [...new Set(sources.map(({ section }) => (section === "updates" ? "routes" : section)))];
  return (
    <Confirm
      title={texts.sources.startTitle}
      action={texts.sources.start}
      change={async (form) => {
        const accepted = form.getAll("shrink").map(String) as Section[];
        const run = await client.value.startRun(accepted.length === 0 ? {} : { accept_shrink: accepted });
        navigate(`/runs/${encodeURIComponent(run.id)}`);
      }}
      close={close}
      refused={refused}
    >
      <p>{texts.sources.startText}</p>
      {sections.length === 0 ? null : (
        <details>
          <summary>{texts.sources.shrink}</summary>
          <p class="detail">{texts.sources.shrinkText}</p>
          <fieldset>
            <legend>{texts.sources.sections}</legend>
            {sections.map((section) => (
              <label key={section} class="check">
                <input type="checkbox" name="shrink" value={section} /> {section}
              </label>
            ))}
          </fieldset>
        </details>
      )}
    </Confirm>
  );
}
