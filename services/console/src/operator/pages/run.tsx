/** `/runs/ID`: the progress of a run, and its report. */

import type { IngestRun, RunReport, RunSource } from "@netfacts/contracts";
import { useEffect, useState } from "preact/hooks";
import { count, counted, duration, moment, words } from "../../domain/format.ts";
import { Card, Facts, Outside, Reason, Unknown } from "../../parts/basics.tsx";
import { serverNowMs } from "../../server-clock.ts";
import { IngestAnswered } from "../parts/ingest-answered.tsx";
import { StateBadge } from "../parts/state-badge.tsx";
import { Table } from "../parts/table.tsx";
import { usePolled } from "../polling.ts";
import { texts } from "../texts.ts";

const everyMs = 1_000;

export function RunPage({ id }: { readonly id: string }) {
  const [answer, again] = usePolled(
    `run ${id}`,
    everyMs,
    (client, signal) => client.getRun(id, signal),
    ({ state }) => state === "running",
  );
  return (
    <IngestAnswered answer={answer} again={again}>
      {(run) => <Run run={run} />}
    </IngestAnswered>
  );
}

function Run({ run }: { readonly run: IngestRun }) {
  const { id, state, started_at, ended_at, started_by, replaces, error, report } = run;
  const isRollback = replaces !== null;
  return (
    <>
      <h1>
        {isRollback ? texts.run.rollbackTitle : texts.run.title} {id} <StateBadge state={state} />
      </h1>
      {state === "running" ? <Running run={run} /> : null}
      {error === null ? null : (
        <div class="failed" role="alert">
          <h2>{isRollback ? texts.run.rollbackFailed : texts.run.failed}</h2>
          <p>
            <Reason text={error} />
          </p>
          <p>{isRollback ? texts.run.rollbackFailedDo : texts.run.failedDo}</p>
        </div>
      )}
      <div class="cards">
        <Card title={texts.run.about}>
          <Facts
            facts={[
              ["Started", moment(started_at)],
              ["Ended", ended_at === null ? "not yet" : moment(ended_at)],
              ["Started by", started_by === null ? null : <Outside key="b" text={started_by} />],
              ["Snapshot", run.snapshot ?? (state === "running" ? "not yet" : "none published")],
              ...(replaces === null ? [] : ([["Replaces", replaces]] as const)),
              ...(report === null || isRollback
                ? []
                : ([
                    ["Content", report.unchanged ? "unchanged" : "new"],
                    ["Peak memory", `${count(Math.round(report.peak_rss_bytes / 1_048_576))} MiB`],
                  ] as const)),
            ]}
          />
        </Card>
        {report === null ? null : <Report report={report} />}
      </div>
      {report === null && state !== "running" ? <Unknown why={texts.run.noReport} /> : null}
    </>
  );
}

function Running({ run: { started_at: since, replaces, progress } }: { readonly run: IngestRun }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const show = () => setSeconds((serverNowMs() - Date.parse(since)) / 1_000);
    const timer = setInterval(show, 1_000);
    show();
    return () => clearInterval(timer);
  }, [since]);
  // Without a total, the bar only shows that work is in progress.
  const bar = progress === null || progress.total === null ? {} : { value: progress.done, max: Math.max(progress.total, 1) };
  return (
    <>
      <progress aria-label={texts.run.progress} {...bar} />
      <p role="status">{replaces === null ? texts.run.running : texts.run.rollback}</p>
      {progress === null ? null : (
        <p>
          {texts.run.stage}: <Outside text={progress.stage} /> ({amount(progress)})
        </p>
      )}
      <p class="detail">
        {texts.run.since} {duration(seconds)}.
      </p>
    </>
  );
}

/** `3 of 9 steps`, `1.5 of 402.7 MiB`. */
function amount({ done, total, unit }: NonNullable<IngestRun["progress"]>): string {
  const shown = (value: number) => (unit === "bytes" ? (value / 1_048_576).toFixed(1) : count(value));
  return `${shown(done)}${total === null ? "" : ` of ${shown(total)}`} ${unit === "bytes" ? "MiB" : unit}`;
}

const stages = ["read", "build", "verify", "publish"] as const;

function Report({ report }: { readonly report: RunReport }) {
  const ranks = { failed: 0, kept: 1, read: 2 } as const;
  const sources = report.sources.toSorted((a, b) => ranks[a.state] - ranks[b.state]);
  return (
    <>
      <Card title={texts.run.stages}>
        <Facts facts={stages.map((stage) => [stage, `${report.stages[stage].toFixed(1)} s`])} />
      </Card>
      {sources.length === 0 ? null : (
        <Card title={texts.run.sources} wide>
          {sources.map((source) => (
            <SourceReport key={source.name} source={source} />
          ))}
        </Card>
      )}
      <Card title={texts.run.sections} wide>
        <Table label={texts.run.sections} columns={texts.run.sectionColumns}>
          {report.sections.map(({ name, version, kept, refused, counts, notes }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>{version}</td>
              <td class="long">
                {Object.entries(counts)
                  .map(([kind, value]) => `${count(value)} ${words(kind)}`)
                  .join(", ")}
              </td>
              <td class="long">
                {kept ? texts.run.kept : ""} {refused === null ? "" : <Reason text={refused} />}
                {notes?.map((note) => (
                  <p key={note}>
                    <Reason text={note} />
                  </p>
                ))}
              </td>
            </tr>
          ))}
        </Table>
      </Card>
    </>
  );
}

function SourceReport({ source }: { readonly source: RunSource }) {
  const { name, state, error, read, accepted, skipped, as_of, notes, url, file } = source;
  const left = skipped.reduce((sum, { count }) => sum + count, 0);
  return (
    <section class="part">
      <h3>
        <Outside text={name} /> <StateBadge state={state} />
      </h3>
      {error === null ? null : (
        <p class="note">
          <Reason text={error} />
        </p>
      )}
      <p>
        {counted(read, "record")} read, {count(accepted)} imported, {count(left)} skipped; data of{" "}
        {as_of === null ? "an unknown time" : moment(as_of)}.
      </p>
      <p class="detail">
        <Outside text={url ?? file} />
      </p>
      {notes.map((note) => (
        <p key={note} class="detail">
          <Reason text={note} />
        </p>
      ))}
      {skipped.map(({ reason, bad, count: number, examples }) => (
        <details key={reason}>
          <summary>
            {count(number)} skipped: <Outside text={reason} /> {bad ? <span class="badge invalid">bad</span> : null}
          </summary>
          <ul>
            {examples.map(({ line, offset, text }) => (
              <li key={`${line} ${offset} ${text}`}>
                {line === undefined ? (offset === undefined ? "" : `byte ${count(offset)}: `) : `line ${count(line)}: `}
                <code>
                  <Outside text={text} />
                </code>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </section>
  );
}
