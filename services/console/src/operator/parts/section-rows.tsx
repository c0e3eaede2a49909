/** Each row of a section that differs between two snapshots. */

import { useState } from "preact/hooks";
import { count } from "../../domain/format.ts";
import { Outside } from "../../parts/basics.tsx";
import { Answered } from "../../parts/failed.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { useOperatorAnswer } from "../asking.ts";
import { rowName, rowValues, type SnapshotComparison } from "../snapshot-changes.ts";
import { texts } from "../texts.ts";

const t = texts.snapshots;
/** More are listed by the command line. */
const limit = 10_000;
const kinds = ["added", "removed", "changed"] as const;

interface Compared {
  /** Ids of snapshots. */
  readonly from: string;
  readonly to: string;
  readonly section: string;
}

export function SectionRows({ from, to, section }: Compared) {
  const [answer, again] = useOperatorAnswer(`changes ${from} ${to} ${section}`, (client, signal) =>
    client.compareSnapshots({ from, to, section, limit }, signal),
  );
  return (
    <Answered answer={answer} again={again} isPart>
      {(comparison) => <Rows comparison={comparison} compared={{ from, to, section }} />}
    </Answered>
  );
}

function Rows({ comparison: { changes, counts }, compared }: { readonly comparison: SnapshotComparison; readonly compared: Compared }) {
  const [kind, setKind] = useState("");
  const { added, removed, changed } = counts;
  const shown = kind === "" ? changes : changes.filter(({ change }) => change === kind);
  const title = t.rowsTitle(compared.section.replaceAll("_", " "));
  if (added + removed + changed === 0) return <p role="status">{t.rowsSame}</p>;
  return (
    <>
      <p role="status">{t.rowsCounted(count(added), count(removed), count(changed))}</p>
      {changes.length === added + removed + changed ? null : (
        <>
          <p>{t.rowsCut(count(changes.length))}</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard */}
          <pre tabIndex={0}>{`netfacts snapshot diff --ndjson --section ${compared.section} ${compared.from} ${compared.to}`}</pre>
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
      <VirtualList
        label={title}
        items={shown}
        row={(line) => (
          <>
            <span class="badge">{line.change}</span> <Outside text={rowName(line)} />{" "}
            <span class="detail">
              <Outside text={rowValues(line)} />
            </span>
          </>
        )}
      />
    </>
  );
}
