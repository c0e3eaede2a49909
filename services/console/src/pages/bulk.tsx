/** `/bulk`: looks up the addresses of a pasted, chosen or dropped list or log file as a batch, and shows them in a growing table. */

import type { NetfactsClient } from "@netfacts/client";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Failure, failureOf } from "../answer.ts";
import { type Job, job, newJob, pasted } from "../bulk-job.ts";
import { type Column, columns, csv, filtered, type Pause, type Row, rowOf, type Share, sorted } from "../domain/bulk-table.ts";
import { extractAddresses, linesMax } from "../domain/extract.ts";
import { count, counted, share } from "../domain/format.ts";
import { Card, Outside, PrefixLink } from "../parts/basics.tsx";
import { Failed } from "../parts/failed.tsx";
import { RpkiBadge } from "../parts/rpki.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";
import { patientClient } from "../session.ts";
import { texts } from "../texts.ts";

/** Work on a large input pauses after this time, so that the page can respond to its reader. */
const sliceMs = 12;
/** Interval at which a growing table is rendered. */
const showMs = 250;
/** Larger files are refused before they are read: 100,000 lines of a log need a tenth of this. */
const fileBytesMax = 256 << 20;

const columnTitles: Readonly<Record<Column, string>> = texts.bulk.columns;

/** Makes a function that returns a promise when a slice of time is over, else null. */
function pauses(): Pause {
  let until = performance.now() + sliceMs;
  return () =>
    performance.now() < until
      ? null
      : new Promise((done) =>
          setTimeout(() => {
            until = performance.now() + sliceMs;
            done();
          }),
        );
}

export function BulkPage() {
  const [isReading, setReading] = useState(false);
  const [fault, setFault] = useState("");
  const read = async (source: string | File | undefined) => {
    if (source === undefined || isReading) return;
    setFault("");
    if (typeof source !== "string" && source.size > fileBytesMax) return setFault(texts.bulk.tooLarge);
    setReading(true);
    try {
      const extracted = await extractAddresses(typeof source === "string" ? source : await source.text(), pauses());
      if (extracted.addresses.size === 0) setFault(texts.bulk.noAddress);
      else job.value = newJob(extracted);
    } catch {
      setFault(texts.bulk.unreadable);
    } finally {
      setReading(false);
    }
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    read(pasted.value);
  };
  useDroppedFile(job.value === null ? read : null);
  if (job.value !== null)
    return (
      <Results
        job={job.value}
        close={() => {
          job.value = null;
        }}
      />
    );
  return (
    <>
      <h1>{texts.bulk.title}</h1>
      <p>{texts.bulk.lead}</p>
      <form class="bulk" onSubmit={submit}>
        <label for="list">{texts.bulk.list}</label>
        <textarea
          id="list"
          rows={10}
          spellcheck={false}
          value={pasted.value}
          onInput={({ currentTarget }) => {
            pasted.value = currentTarget.value;
          }}
        />
        <label for="file">{texts.bulk.file}</label>
        <input
          id="file"
          type="file"
          onChange={({ currentTarget }) => {
            read(currentTarget.files?.[0]);
            // A browser reports no change if the same file is chosen again, such as a corrected one.
            currentTarget.value = "";
          }}
        />
        <p class="fault" role="alert">
          {fault}
        </p>
        <button type="submit" aria-disabled={isReading}>
          {isReading ? texts.bulk.reading : texts.bulk.start}
        </button>
      </form>
    </>
  );
}

/**
 * Takes a file that is dropped anywhere on the page. Without this, the browser shows the file instead of the page, and the rows are lost.
 *
 * @param take  null: no file is taken.
 */
function useDroppedFile(take: ((file: File | undefined) => void) | null): void {
  useLayoutEffect(() => {
    const drag = (event: DragEvent) => {
      const { dataTransfer } = event;
      if (!dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      if (take === null) dataTransfer.dropEffect = "none";
      else if (event.type === "drop") take(dataTransfer.files[0]);
    };
    addEventListener("dragover", drag);
    addEventListener("drop", drag);
    return () => {
      removeEventListener("dragover", drag);
      removeEventListener("drop", drag);
    };
  }, [take]);
}

interface Progress {
  readonly rows: readonly Row[];
  readonly failure: Failure | null;
  readonly isDone: boolean;
}

/** Looks up the addresses that have no row yet. A failure keeps the rows, and `again` looks up the rest. */
function useRows(job: Job): [Progress, () => void] {
  const { addresses, rows, tally } = job;
  const [progress, setProgress] = useState<Progress>({ rows: [...rows], failure: null, isDone: rows.length === addresses.length });
  const [attempt, setAttempt] = useState(0);
  const client = patientClient.value;
  useEffect(() => {
    if (rows.length === addresses.length) return;
    const leaving = new AbortController();
    const show = (failure: Failure | null, isDone: boolean) => setProgress({ rows: [...rows], failure, isDone });
    const add = (row: Row) => {
      // Ignore results that arrive after the page was left: the next page requests them again.
      if (leaving.signal.aborted) return;
      rows.push(row);
      tally.add(row);
    };
    show(null, false);
    ask(client, { rest: addresses.slice(rows.length), add, show: () => show(null, false) }, leaving.signal).then(
      () => leaving.signal.aborted || show(null, true),
      (error) => leaving.signal.aborted || show(failureOf(error), false),
    );
    return () => leaving.abort();
  }, [job, client, attempt]);
  return [progress, () => setAttempt((value) => value + 1)];
}

const fields: ("ip" | "routing" | "allocation" | "rpki")[] = ["ip", "routing", "allocation", "rpki"];

interface Asking {
  /** Addresses that are still to be looked up. */
  readonly rest: Job["addresses"];
  /** Called for each row, in order. */
  readonly add: (row: Row) => void;
  /** Called at intervals. */
  readonly show: () => void;
}

async function ask(client: NetfactsClient, { rest, add, show }: Asking, signal: AbortSignal): Promise<void> {
  const questions = rest.map(([value]) => ({ kind: "ip" as const, value, fields, meta: false }));
  const pause = pauses();
  let shown = performance.now();
  for await (const result of client.batch(questions, { signal })) {
    const [ip, lines] = rest[result.index] ?? ["", 0];
    add(rowOf(ip, lines, result));
    if (performance.now() - shown > showMs) {
      show();
      shown = performance.now();
    }
    const pausing = pause();
    if (pausing !== null) await pausing;
    signal.throwIfAborted();
  }
}

interface Order {
  readonly column: Column;
  readonly isDescending: boolean;
}

/** Filters and sorts rows in slices of time. If the table grows meanwhile, the new rows are arranged after the previous ones. */
function useArranged(rows: readonly Row[], filter: string, order: Order | null): readonly Row[] {
  const [shown, setShown] = useState(rows);
  const wanted = useMemo(() => ({ rows, filter, order }), [rows, filter, order]);
  const latest = useRef(wanted);
  latest.current = wanted;
  const isBusy = useRef(false);
  useEffect(() => {
    if (isBusy.current) return;
    isBusy.current = true;
    const arrange = async () => {
      for (let made: typeof wanted | null = null; made !== latest.current; ) {
        made = latest.current;
        const pause = pauses();
        const kept = await filtered(made.rows, made.filter, pause);
        setShown(made.order === null ? kept : await sorted(kept, made.order.column, made.order.isDescending, pause));
      }
      isBusy.current = false;
    };
    arrange();
  }, [wanted]);
  return shown;
}

function Results({ job, close }: { readonly job: Job; readonly close: () => void }) {
  const [{ rows, failure, isDone }, again] = useRows(job);
  const { tally } = job;
  const [filter, setFilter] = useState("");
  const [order, setOrder] = useState<Order | null>(null);
  const shown = useArranged(rows, filter, order);
  const sort = (column: Column) => setOrder({ column, isDescending: order?.column === column && !order.isDescending });
  const total = job.addresses.length;
  return (
    <>
      <h1>
        {isDone
          ? `${counted(total, "address", "addresses")} in ${counted(job.lines, "line")}.`
          : `${count(rows.length)} of ${counted(total, "address", "addresses")} asked.`}
      </h1>
      {isDone ? null : <progress aria-label={texts.bulk.progress} max={total} value={rows.length} />}
      {job.isCut ? <p class="note">{texts.bulk.cut(count(linesMax))}</p> : null}
      {job.linesWithout === 0 ? null : <p class="note">{texts.bulk.without(counted(job.linesWithout, "line"))}</p>}
      {failure === null ? null : <Failed failure={failure} again={again} />}
      <div class="cards">
        <Chart title={texts.bulk.charts.as} shares={tally.shares("as")} total={rows.length} />
        <Chart title={texts.bulk.charts.country} shares={tally.shares("country")} total={rows.length} />
        <Chart title={texts.bulk.charts.rpki} shares={tally.shares("rpki")} total={rows.length} />
        <Card title={texts.bulk.table} wide>
          <div class="buttons tools">
            <input
              type="search"
              aria-label={texts.bulk.filter}
              placeholder={texts.bulk.filter}
              value={filter}
              onInput={({ currentTarget }) => setFilter(currentTarget.value)}
            />
            <span class="detail" role="status">
              {counted(shown.length, "row")}
            </span>
            <button type="button" onClick={async () => download(await csv(shown, pauses()))} disabled={shown.length === 0}>
              {texts.bulk.csv}
            </button>
            <button type="button" class="quiet" onClick={close}>
              {texts.bulk.another}
            </button>
          </div>
          <div class="scroll">
            <div class="grid head">
              {columns.map((column) => (
                <button key={column} type="button" class="quiet" aria-pressed={order?.column === column} onClick={() => sort(column)}>
                  {columnTitles[column]} {order?.column === column ? (order.isDescending ? "↓" : "↑") : ""}
                </button>
              ))}
            </div>
            <VirtualList label={texts.bulk.table} items={shown} row={(row) => <TableRow row={row} />} />
          </div>
        </Card>
      </div>
    </>
  );
}

function TableRow({ row: { ip, lines, prefix, as, name, country, rpki, problem } }: { readonly row: Row }) {
  return (
    <span class="grid">
      <a href={`/address/${ip}`}>{ip}</a>
      <span>{count(lines)}</span>
      <span>{prefix === "" ? "" : <PrefixLink prefix={prefix} />}</span>
      <span>{as.startsWith("AS") ? <a href={`/as/${as}`}>{as}</a> : as}</span>
      <span>
        <Outside text={name} />
      </span>
      <span>{country}</span>
      <span>{rpki === "" ? "" : <RpkiBadge state={rpki} />}</span>
      <span>
        <Outside text={problem} />
      </span>
    </span>
  );
}

function Chart({ title, shares, total }: { readonly title: string; readonly shares: readonly Share[]; readonly total: number }) {
  return (
    <Card title={title}>
      <ul class="plain chart">
        {shares.map(({ name, addresses }) => (
          <li key={name}>
            <span class="row">
              <span class="fill">
                <Outside text={name} />
              </span>
              <span class="detail">
                {count(addresses)} · {share(addresses / total)}
              </span>
            </span>
            <meter aria-label={title} min={0} max={total} value={addresses} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function download(pieces: string[]): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(pieces, { type: "text/csv" }));
  link.download = "netfacts.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
