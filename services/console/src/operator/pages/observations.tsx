/** `/observations`: uploads a file of observations, shows its progress and bad lines, resumes it, and lists the last uploads. */

import type { ObservationUpload } from "@netfacts/contracts";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Failure, failureOf } from "../../asked.ts";
import { count, counted, moment, share } from "../../domain/format.ts";
import { Card, Facts, Outside, Unknown } from "../../parts/basics.tsx";
import { Failed } from "../../parts/failed.tsx";
import { useOperatorAnswer } from "../asking.ts";
import { randomName } from "../domain.ts";
import type { UploadPlace } from "../operator-client.ts";
import { IngestAnswered } from "../parts/ingest-answered.tsx";
import { Table } from "../parts/table.tsx";
import { client } from "../session.ts";
import { texts } from "../texts.ts";
import { formatOf, formats } from "../upload-format.ts";

const t = texts.observations;

export function ObservationsPage() {
  const [uploads, again] = useOperatorAnswer("uploads", (client, signal) => client.listUploads({ limit: 20 }, signal));
  return (
    <>
      <h1>{t.title}</h1>
      <p>{t.lead}</p>
      <SendFile done={again} />
      <h2>{t.recent}</h2>
      <IngestAnswered answer={uploads} again={again} isPart>
        {({ items }) =>
          items.length === 0 ? (
            <Unknown why={t.none} />
          ) : (
            <div class="cards">
              {items.map((upload) => (
                <Report key={upload.upload} upload={upload} />
              ))}
            </div>
          )
        }
      </IngestAnswered>
    </>
  );
}

interface Sending {
  readonly file: File;
  readonly place: UploadPlace;
}

type State =
  | { readonly state: "chosen" }
  | { readonly state: "sending"; readonly sent: number }
  | { readonly state: "broken"; readonly failure: Failure | null }
  | { readonly state: "done"; readonly report: ObservationUpload };

function SendFile({ done }: { readonly done: () => void }) {
  const [sending, setSending] = useState<Sending | null>(null);
  const [name, setName] = useState("");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (field: string) => String(form.get(field) ?? "").trim();
    const file = form.get("file");
    if (!(file instanceof File) || file.name === "") return;
    const format = text("format") === "" ? formatOf(file.name) : text("format");
    setSending({ file, place: { upload: text("upload") || randomName(), source: text("source"), type: formats[format] ?? "", offset: 0 } });
  };
  if (sending !== null) return <Send key={sending.place.upload} {...sending} done={done} close={() => setSending(null)} />;
  return (
    <form class="card fields" onSubmit={submit}>
      <label for="file">{t.file}</label>
      <input id="file" name="file" type="file" required onChange={({ currentTarget }) => setName(currentTarget.files?.[0]?.name ?? "")} />
      <label for="format">{t.format}</label>
      <select id="format" name="format">
        <option value="">{t.byName(name === "" ? "ndjson" : formatOf(name))}</option>
        {Object.keys(formats).map((format) => (
          <option key={format} value={format}>
            {format}
          </option>
        ))}
      </select>
      <label for="source">{t.source}</label>
      <input id="source" name="source" pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,63}" autocomplete="off" />
      <label for="upload">{t.upload}</label>
      <input id="upload" name="upload" pattern="[A-Za-z0-9_\-]{1,64}" autocomplete="off" />
      <div class="buttons">
        <button type="submit">{t.send}</button>
      </div>
    </form>
  );
}

interface SendProps extends Sending {
  readonly done: () => void;
  readonly close: () => void;
}

function Send({ file, place, done, close }: SendProps) {
  const [state, setState] = useState<State>({ state: "chosen" });
  const leaving = useRef<AbortController | null>(null);
  const send = () => {
    const aborter = new AbortController();
    leaving.current = aborter;
    setState({ state: "sending", sent: 0 });
    // Do not send bytes again that are already stored by an earlier try, or by a resumed upload with this id.
    restOf(place.upload, aborter.signal)
      .then((offset) =>
        client.value.upload(
          file,
          { ...place, offset: Math.min(offset, file.size) },
          (sent) => aborter.signal.aborted || setState({ state: "sending", sent }),
          aborter.signal,
        ),
      )
      .then(
        (report) => {
          setState({ state: "done", report });
          done();
        },
        (error) => {
          const failure = aborter.signal.aborted ? null : failureOf(error);
          setState({ state: "broken", failure });
          // Bytes sent before a problem are stored, so update the list. An unreachable server cannot send a list.
          if (failure === null || failure.kind === "problem") done();
        },
      );
  };
  useEffect(() => {
    send();
    return () => leaving.current?.abort(new DOMException("left", "AbortError"));
  }, []);
  return (
    <section class="card" aria-labelledby="sending-title">
      <h2 id="sending-title">
        <Outside text={file.name} />
      </h2>
      <p class="detail">
        {t.id} <code>{place.upload}</code>
      </p>
      {state.state === "sending" ? (
        <>
          <progress aria-label={t.progress} max={file.size} value={Math.min(state.sent, file.size)} />
          <p>
            {count(Math.min(state.sent, file.size))} of {counted(file.size, "byte")} sent
            {file.size === 0 ? "" : ` (${share(Math.min(1, state.sent / file.size))})`}
            {state.sent >= file.size ? `; ${t.storing}` : "."}
          </p>
          <button type="button" class="quiet" onClick={() => leaving.current?.abort(new DOMException("stopped", "AbortError"))}>
            {t.stop}
          </button>
        </>
      ) : null}
      {state.state === "broken" ? (
        <>
          {state.failure === null ? <p class="note">{t.stopped}</p> : <Failed failure={state.failure} again={send} />}
          <div class="buttons">
            {/* The text of a problem has its own button if another try can succeed. */}
            {state.failure?.kind === "problem" ? null : (
              <button type="button" onClick={send}>
                {t.resume}
              </button>
            )}
            <button type="button" class="quiet" onClick={close}>
              {t.another}
            </button>
          </div>
        </>
      ) : null}
      {state.state === "done" ? (
        <>
          <p class="lead" role="status">
            {sentenceOf(state.report)}
          </p>
          <BadLines upload={state.report} />
          <button type="button" class="quiet" onClick={close}>
            {t.another}
          </button>
        </>
      ) : null}
    </section>
  );
}

/**
 * The offset at which an upload continues: behind its stored bytes; 0 if there is no such upload. 0 also if it is complete: the whole file is sent, so
 * that the server compares it with the stored bytes and refuses another file.
 */
async function restOf(upload: string, signal: AbortSignal): Promise<number> {
  try {
    const { offset, complete } = await client.value.getUpload(upload, signal);
    return complete ? 0 : offset;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind === "problem" && failure.problem.code === "upload_not_found") return 0;
    throw error;
  }
}

function sentenceOf({ rows, bad, complete, offset }: ObservationUpload): string {
  if (!complete && offset === 0) return t.nothing;
  const end = complete ? "" : "; the end of the file is not stored";
  return `${counted(rows, "line")} stored, ${counted(bad, "bad line")}${end}.`;
}

function Report({ upload }: { readonly upload: ObservationUpload }) {
  const { format, source, key_id, created_at, updated_at, complete, offset, lines } = upload;
  return (
    <Card title={upload.upload}>
      <p>{sentenceOf(upload)}</p>
      <Facts
        facts={[
          ["Source", <Outside key="s" text={source} />],
          ["Format", format],
          ["Begun by", key_id === null ? "the command line" : <Outside key="k" text={key_id} />],
          ["Begun", moment(created_at)],
          ["Last stored", moment(updated_at)],
          ["Read", `${counted(lines, "line")}, ${counted(offset, "byte")}`],
        ]}
      />
      {complete ? null : <p class="note">{offset === 0 ? t.nothingDo : t.incomplete}</p>}
      <BadLines upload={upload} />
    </Card>
  );
}

function BadLines({ upload: { bad, bad_lines } }: { readonly upload: ObservationUpload }) {
  if (bad === 0) return null;
  return (
    <details>
      <summary>
        {t.bad}
        {bad > bad_lines.length ? ` (${t.first(count(bad_lines.length), count(bad))})` : ""}
      </summary>
      <Table label={t.bad} columns={t.badColumns}>
        {bad_lines.map(({ line, reason }) => (
          <tr key={line}>
            <td class="number">{count(line)}</td>
            <td class="long">
              <Outside text={reason} />
            </td>
          </tr>
        ))}
      </Table>
    </details>
  );
}
