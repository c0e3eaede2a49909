/** The rows of a section that differ between two snapshots. */

import type { SnapshotChanges } from "@netfacts/contracts";
import { useState } from "preact/hooks";
import { count, words } from "../../domain/format.ts";
import { Outside } from "../../parts/basics.tsx";
import { Answered } from "../../parts/failed.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { useOperatorAnswer } from "../asking.ts";
import { rowName, rowValues } from "../snapshot-changes.ts";
import { texts } from "../texts.ts";

const t = texts.snapshots;
/** Most rows that are listed; the command line lists all. */
const limit = 10_000;
const kinds = ["added", "removed", "changed"] as const;

interface ComparedSection {
  /** Ids of snapshots. */
  readonly from: string;
  readonly to: string;
  readonly section: string;
}

export function SectionRows({ from, to, section }: ComparedSection) {
  const [answer, again] = useOperatorAnswer(`changes ${from} ${to} ${section}`, (client, signal) =>
    client.compareSnapshots({ from, to, section, limit }, signal),
  );
  return (
    <section aria-live="polite">
      <h3>{t.rowsTitle(words(section), from, to)}</h3>
      <Answered answer={answer} again={again} isPart>
        {(changes) => <Rows changes={changes} />}
      </Answered>
    </section>
  );
}

function Rows({ changes: { from, to, section, added, removed, changed, items } }: { readonly changes: SnapshotChanges }) {
  const [kind, setKind] = useState("");
  const all = added + removed + changed;
  if (all === 0) return <p>{t.rowsSame}</p>;
  const shown = kind === "" ? items : items.filter(({ change }) => change === kind);
  return (
    <>
      <p>{t.rowsCounted(count(added), count(removed), count(changed))}</p>
      {items.length === all ? null : (
        <>
          <p>{t.rowsCut(count(items.length))}</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable elements must be reachable with the keyboard */}
          <pre tabIndex={0}>{`netfacts snapshot diff ${from} ${to} --ndjson --section ${section}`}</pre>
        </>
      )}
      <div class="buttons tools">
        <label>
          {t.rowsWhich}{" "}
          <select value={kind} onChange={({ currentTarget }) => setKind(currentTarget.value)}>
            <option value="">{t.rowsAll}</option>
            {kinds.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      {shown.length === 0 ? (
        <p>{t.rowsNone}</p>
      ) : (
        <VirtualList
          label={t.rowsList}
          items={shown}
          row={(change) => (
            <span class="line">
              <span class="badge">{change.change}</span> <Outside text={rowName(change)} />{" "}
              <span class="detail">
                <Outside text={rowValues(change)} />
              </span>
            </span>
          )}
        />
      )}
    </>
  );
}
