/** Stored lines as operators see them: each with its origin, and whether it is an outlier. */

import { setImmediate as turn } from "node:timers/promises";
import { formatPrefix, type Prefix } from "@netfacts/address";
import { type StoredObservation, timestamp } from "@netfacts/contracts";
import type { ObservationRepository, StoredRow, UploadRecord } from "@netfacts/storage";
import { type ConsensusOptions, outlierJudge, type Vote } from "../assembly/consensus.ts";

/** Lines of one prefix that are held in memory to compare them; further ones are compared with these. */
const heldMax = 20_000;
/** Most votes in the consensus of one prefix. */
const votesMax = 1_000;
const daySeconds = 86_400;

/** Every line about the prefix as text of NDJSON, in the order of prefixes. */
export async function* exportedLines(
  repository: ObservationRepository,
  prefix: Prefix,
  halfLifeSeconds: number,
): AsyncGenerator<string, void> {
  const options: ConsensusOptions = { now: (await repository.newest()) ?? 0, halfLifeSeconds };
  const uploads = new UploadsByNumber(repository);
  for await (const rows of byPrefix(repository.about(prefix))) {
    const described: { readonly row: StoredRow; readonly upload: UploadRecord }[] = [];
    for (const row of rows.first) {
      const upload = await uploads.get(row.upload);
      if (upload !== null) described.push({ row, upload });
    }
    const isOutlier = outlierJudge(votesOf(described), options);
    let text = "";
    for (const { row, upload } of described) text += lineOf(row, upload, isOutlier);
    yield text;
    for await (const row of rows.rest) {
      const upload = await uploads.get(row.upload);
      if (upload !== null) yield lineOf(row, upload, isOutlier);
    }
  }
}

interface RowsOfPrefix {
  readonly first: readonly StoredRow[];
  /** Read it before the next prefix. */
  readonly rest: AsyncIterable<StoredRow>;
}

async function* byPrefix(groups: AsyncIterable<StoredRow[]>): AsyncGenerator<RowsOfPrefix, void> {
  const rows = flat(groups);
  let next = await rows.next();
  while (next.done !== true) {
    const key = formatPrefix(next.value.prefix);
    const isSame = () => next.done !== true && formatPrefix(next.value.prefix) === key;
    const first: StoredRow[] = [];
    while (next.done !== true && isSame() && first.length < heldMax) {
      first.push(next.value);
      next = await rows.next();
    }
    const rest = async function* () {
      while (next.done !== true && isSame()) {
        yield next.value;
        next = await rows.next();
      }
    };
    yield { first, rest: rest() };
  }
}

async function* flat(groups: AsyncIterable<StoredRow[]>): AsyncGenerator<StoredRow, void> {
  for await (const group of groups) yield* group;
}

/** Votes as the section counts them: for one source, method and day only the newest. */
function votesOf(rows: readonly { readonly row: StoredRow; readonly upload: UploadRecord }[]): Vote[] {
  const newest = new Map<string, Vote>();
  for (const { row, upload } of rows) {
    const vote = voteOf(row);
    if (vote === null) continue;
    const key = `${upload.source} ${row.method ?? ""} ${Math.floor(vote.observedAt / daySeconds)}`;
    const known = newest.get(key);
    if (known === undefined || vote.observedAt >= known.observedAt) newest.set(key, vote);
  }
  return [...newest.values()].sort((a, b) => b.observedAt - a.observedAt).slice(0, votesMax);
}

const voteByRow = new WeakMap<StoredRow, Vote>();

/** One object for each row, because the judge recognises counted votes by identity; null for a line of a geofeed. */
function voteOf(row: StoredRow): Vote | null {
  if (row.observedAt === null) return null;
  const known = voteByRow.get(row);
  if (known !== undefined) return known;
  const { country, region, city, latitude, longitude, accuracyKm, observedAt } = row;
  const vote: Vote = { country, region, city, latitude, longitude, accuracyKm, observedAt };
  voteByRow.set(row, vote);
  return vote;
}

function lineOf(row: StoredRow, upload: UploadRecord, isOutlier: (vote: Vote) => boolean): string {
  const vote = voteOf(row);
  const line: StoredObservation = {
    prefix: formatPrefix(row.prefix),
    basis: upload.format === "geofeed" ? "geofeed" : "observation",
    lat: row.latitude,
    lon: row.longitude,
    accuracy_km: row.accuracyKm,
    country: row.country,
    region: row.region,
    city: row.city,
    observed_at: row.observedAt === null ? null : timestamp(row.observedAt * 1_000),
    method: row.method,
    source: upload.source,
    key_id: upload.keyId,
    upload: upload.id,
    line: row.line,
    outlier: vote === null ? null : isOutlier(vote),
  };
  return `${JSON.stringify(line)}\n`;
}

const uploadsPage = 1_000;

/** All uploads, latest first, page by page; the event loop runs in between. */
export async function* allUploads(repository: ObservationRepository): AsyncGenerator<UploadRecord, void> {
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const page = await repository.uploads(uploadsPage, before);
    yield* page;
    if (page.length < uploadsPage) return;
    before = page.at(-1)?.number ?? 0;
    await turn();
  }
}

/** Looks up each upload once. */
class UploadsByNumber {
  readonly #repository: ObservationRepository;
  readonly #known = new Map<number, UploadRecord | null>();

  constructor(repository: ObservationRepository) {
    this.#repository = repository;
  }

  /** Null: the upload was removed. */
  async get(number: number): Promise<UploadRecord | null> {
    const known = this.#known.get(number);
    if (known !== undefined) return known;
    const [latest] = await this.#repository.uploads(1, number + 1);
    const upload = latest?.number === number ? latest : null;
    this.#known.set(number, upload);
    return upload;
  }
}
