/** `/keys`: all keys, and a form for a new one. */

import type { CreatedKey, ManagedKey } from "@netfacts/contracts";
import { useEffect, useMemo, useState } from "preact/hooks";
import { count, counted, moment } from "../../domain/format.ts";
import { Card, Outside } from "../../parts/basics.tsx";
import { Answered, Failed } from "../../parts/failed.tsx";
import { useFurtherPages } from "../../parts/further-pages.ts";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { texts as shared } from "../../texts.ts";
import { useOperatorAnswer } from "../asking.ts";
import { filteredKeys } from "../domain.ts";
import { showSecret } from "../new-secret.ts";
import type { OperatorClient } from "../operator-client.ts";
import { useFilters } from "../parts/filters.tsx";
import { StateBadge } from "../parts/state-badge.tsx";
import { client } from "../session.ts";
import { texts } from "../texts.ts";
import { NewKeyForm } from "./new-key.tsx";

type KeysPageOf = Awaited<ReturnType<OperatorClient["listKeys"]>>;

/** Longest page of the API. */
const limit = 1_000;

export function KeysPage() {
  const [{ plan, filter }, change] = useFilters(["plan", "filter"]);
  const [isMaking, setMaking] = useState(false);
  const [answer, again] = useOperatorAnswer(`keys ${plan}`, (client, signal) => client.listKeys({ limit, plan }, signal));
  const [plans] = useOperatorAnswer("plans", (client, signal) => client.listPlans(signal));
  const names = plans.state === "answered" ? plans.record.items.map(({ name }) => name) : [];
  // The URL may name a plan before the plans are loaded, or one that is gone.
  const choices = plan === "" || names.includes(plan) ? names : [...names, plan];
  const keep = (key: CreatedKey) => {
    setMaking(false);
    showSecret(key);
    again();
  };
  return (
    <>
      <h1>{texts.nav.keys}</h1>
      {isMaking ? (
        <NewKeyForm plans={names} made={keep} close={() => setMaking(false)} />
      ) : (
        <button type="button" onClick={() => setMaking(true)}>
          {texts.keys.create}
        </button>
      )}
      <p>
        <label>
          {texts.keys.ofPlan}{" "}
          <select value={plan} onChange={({ currentTarget }) => change({ plan: currentTarget.value })}>
            <option value="">{texts.keys.anyPlan}</option>
            {choices.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </p>
      <Answered answer={answer} again={again} isPart>
        {(first) => <KeyList first={first} plan={plan} filter={filter} keepFilter={(filter) => change({ filter })} />}
      </Answered>
    </>
  );
}

interface KeyListProps {
  readonly first: KeysPageOf;
  readonly plan: string;
  /** Text that the loaded keys are filtered by. */
  readonly filter: string;
  /** Called when the field is left, not with each letter. */
  readonly keepFilter: (filter: string) => void;
}

function KeyList({ first, plan, filter: kept, keepFilter }: KeyListProps) {
  const [filter, setFilter] = useState(kept);
  useEffect(() => setFilter(kept), [kept]);
  const { items, more, isLoading, failure } = useFurtherPages<ManagedKey>(first, (cursor, signal) =>
    client.value.listKeys({ limit, plan, cursor }, signal),
  );
  const shown = useMemo(() => filteredKeys(items, filter), [items, filter]);
  return (
    <Card title={texts.keys.table} wide>
      <div class="buttons tools">
        <input
          type="search"
          aria-label={texts.keys.filter}
          placeholder={texts.keys.filter}
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
          onChange={({ currentTarget }) => keepFilter(currentTarget.value)}
        />
        <span class="detail" role="status">
          {filter.trim() === "" ? counted(items.length, "key") : `${count(shown.length)} of ${counted(items.length, "key")}`}
          {more === null ? "" : texts.keys.notAll}
        </span>
      </div>
      {shown.length === 0 ? (
        <p class="unknown">{items.length === 0 ? texts.keys.none : texts.keys.noMatch}</p>
      ) : (
        <div class="scroll">
          <div class="grid keys head" aria-hidden="true">
            {texts.keys.columns.map((name) => (
              <strong key={name}>{name}</strong>
            ))}
          </div>
          <VirtualList label={texts.keys.table} items={shown} row={(key) => <KeyRow {...key} />} />
        </div>
      )}
      {failure === null ? null : <Failed failure={failure} again={() => more?.()} />}
      {more === null ? null : (
        <button type="button" class="quiet" aria-disabled={isLoading} onClick={more}>
          {shared.loadMore}
        </button>
      )}
    </Card>
  );
}

function KeyRow({ id, label, state, plan, scopes, expires_at }: ManagedKey) {
  return (
    <span class="grid keys">
      <a href={`/keys/${id}`}>
        <Outside text={label} />
      </a>
      <code>{id}</code>
      <span>
        <StateBadge state={state} />
      </span>
      <span>
        <Outside text={plan} />
      </span>
      <span>{scopes.join(", ")}</span>
      <span>{expires_at === null ? "never" : moment(expires_at)}</span>
    </span>
  );
}
