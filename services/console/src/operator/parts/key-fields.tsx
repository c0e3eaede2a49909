/** The fields of a form for a new or changed key. */

import type { ManagedKey } from "@netfacts/contracts";
import { scopes } from "../domain.ts";
import { texts } from "../texts.ts";

const t = texts.newKey;

interface KeyFieldsProps {
  readonly plans: readonly string[];
  /** The current key; null: a new one. */
  readonly given: ManagedKey | null;
}

export function KeyFields({ plans, given }: KeyFieldsProps) {
  // Offer the plan of the key even if the list of plans is unknown.
  const names = [...new Set([...plans, ...(given === null ? [] : [given.plan])])];
  return (
    <>
      <label for="label">{t.label}</label>
      <input id="label" name="label" required maxLength={100} autocomplete="off" defaultValue={given?.label ?? ""} />
      <fieldset>
        <legend>{t.scopes}</legend>
        {scopes.map((scope) => (
          <label key={scope} class="check">
            <input
              type="checkbox"
              name="scope"
              value={scope}
              defaultChecked={given === null ? scope !== "admin" && scope !== "batch" : given.scopes.includes(scope)}
            />{" "}
            {scope}
          </label>
        ))}
      </fieldset>
      <label for="plan">{t.plan}</label>
      <select id="plan" name="plan">
        <option value="default">default</option>
        {names
          .filter((name) => name !== "default")
          .map((name) => (
            <option key={name} value={name} selected={name === given?.plan}>
              {name}
            </option>
          ))}
      </select>
      <details
        open={given !== null}
        // A browser does not send a form with a faulty field that is folded, and does not say why.
        onInvalidCapture={({ currentTarget }) => {
          currentTarget.open = true;
        }}
      >
        <summary>{t.more}</summary>
        <div class="fields">
          <label for="cidrs">{t.cidrs}</label>
          <textarea id="cidrs" name="cidrs" rows={3} spellcheck={false} defaultValue={given?.allowed_cidrs.join("\n") ?? ""} />
          <label for="expires">{t.expires}</label>
          <input id="expires" name="expires" type="date" defaultValue={given?.expires_at?.slice(0, 10) ?? ""} />
          <label for="rate">{t.rate}</label>
          <input id="rate" name="rate" type="number" min={1} max={1_000_000_000} defaultValue={textOf(given?.rate?.limit)} />
          <label for="window">{t.window}</label>
          <input id="window" name="window" type="number" min={1} max={86_400} defaultValue={textOf(given?.rate?.window_seconds ?? 1)} />
          <label for="month">{t.month}</label>
          <input id="month" name="month" type="number" min={1} max={1_000_000_000} defaultValue={textOf(given?.month?.limit)} />
          <label for="concurrency">{t.concurrency}</label>
          <input
            id="concurrency"
            name="concurrency"
            type="number"
            min={1}
            max={1_000_000}
            defaultValue={textOf(given?.concurrency?.limit)}
          />
        </div>
      </details>
    </>
  );
}

function textOf(value: number | undefined): string {
  return value === undefined ? "" : String(value);
}
