/** `/keys/ID`: one key, and the actions for it. */

import type { ManagedKey, Plan, RotatedKey } from "@netfacts/contracts";
import { useRef, useState } from "preact/hooks";
import { moment } from "../../domain/format.ts";
import { Card, Facts, Outside } from "../../parts/basics.tsx";
import { Answered } from "../../parts/failed.tsx";
import { useOperatorAnswer } from "../asking.ts";
import { concurrencyText, keyPatchOf, monthText, randomName, rateText } from "../domain.ts";
import { showSecret } from "../new-secret.ts";
import { Confirm } from "../parts/confirm.tsx";
import { KeyFields } from "../parts/key-fields.tsx";
import { StateBadge } from "../parts/state-badge.tsx";
import { client, ownKeyId } from "../session.ts";
import { texts } from "../texts.ts";

type Action = "change" | "rotate" | "disable" | "enable" | "revoke";

export function KeyPage({ id }: { readonly id: string }) {
  const [answer, again] = useOperatorAnswer(`key ${id}`, (client, signal) => client.getKey(id, signal));
  const [plans] = useOperatorAnswer("plans", (client, signal) => client.listPlans(signal));
  const known = plans.state === "answered" ? plans.record.items : [];
  return (
    <Answered answer={answer} again={again}>
      {(key) => (
        <OneKey
          record={key}
          plan={known.find(({ name }) => name === key.plan)}
          plans={known.map(({ name }) => name)}
          again={again}
          rotated={(successor) => {
            showSecret(successor);
            again();
          }}
        />
      )}
    </Answered>
  );
}

interface OneKeyProps {
  readonly record: ManagedKey;
  /** Plan of the key; undefined: unknown. */
  readonly plan: Plan | undefined;
  /** Names of the known plans. */
  readonly plans: readonly string[];
  readonly again: () => void;
  readonly rotated: (key: RotatedKey) => void;
}

function OneKey({ record: key, plan, plans, again, rotated }: OneKeyProps) {
  const [action, setAction] = useState<Action | null>(null);
  const close = () => setAction(null);
  const isReplaced = key.rotation.replaced_by !== null;
  const actions: readonly Action[] = [
    ...(key.state === "revoked" ? [] : ["change" as const]),
    ...(key.state === "active" && !isReplaced ? ["rotate" as const] : []),
    ...(key.state === "active" ? ["disable" as const] : []),
    ...(key.state === "disabled" ? ["enable" as const] : []),
    ...(key.state === "revoked" ? [] : ["revoke" as const]),
  ];
  return (
    <>
      <h1>
        <Outside text={key.label} /> <StateBadge state={key.state} />
      </h1>
      {key.id === ownKeyId.value ? <p class="note">{texts.key.own}</p> : null}
      <div class="buttons tools">
        {actions.map((each) => (
          <button key={each} type="button" class={each === "revoke" ? "danger" : "quiet"} onClick={() => setAction(each)}>
            {texts.key.actions[each]}
          </button>
        ))}
      </div>
      <div class="cards">
        <Card title={texts.key.about}>
          <Facts
            facts={[
              ["Key", <code key="d">{key.display}</code>],
              ["Environment", key.environment],
              ["Scopes", key.scopes.join(", ")],
              ["Allowed from", key.allowed_cidrs.length === 0 ? "anywhere" : key.allowed_cidrs.join(", ")],
              ["Created", moment(key.created_at)],
              ["Expires", key.expires_at === null ? "never" : moment(key.expires_at)],
              [
                "Usage",
                <a key="u" href={`/usage?key=${key.id}`}>
                  {texts.key.usage}
                </a>,
              ],
              [
                "Changes",
                <a key="c" href={`/audit?target=${key.id}`}>
                  {texts.key.changes}
                </a>,
              ],
            ]}
          />
        </Card>
        <Card title={texts.key.limits}>
          <Facts
            facts={[
              ["Plan", <Outside key="p" text={key.plan} />],
              ["Rate", limitOf(key.rate, plan?.rate, rateText)],
              ["Month", limitOf(key.month, plan?.month, monthText)],
              ["Concurrent", limitOf(key.concurrency, plan?.concurrency, concurrencyText)],
            ]}
          />
        </Card>
        {key.rotation.replaced_by === null ? null : (
          <Card title={texts.key.rotation}>
            <Facts
              facts={[
                [
                  "Replaced by",
                  <a key="r" href={`/keys/${key.rotation.replaced_by}`}>
                    {key.rotation.replaced_by}
                  </a>,
                ],
                ["Replaced", key.rotation.rotated_at === null ? null : moment(key.rotation.rotated_at)],
                ["Works until", key.rotation.valid_until === null ? null : moment(key.rotation.valid_until)],
              ]}
            />
          </Card>
        )}
      </div>
      {action === null ? null : action === "rotate" ? (
        <Rotate record={key} close={close} refused={again} rotated={rotated} />
      ) : action === "change" ? (
        <Change record={key} plans={plans} done={again} close={close} />
      ) : (
        <Confirm
          title={<Named action={action} record={key} />}
          action={texts.key.actions[action]}
          isFinal={action === "revoke"}
          change={async () => {
            await client.value.setKeyState(key.id, action);
            again();
          }}
          close={close}
          refused={again}
        >
          <p>{texts.key.consequences[action]}</p>
        </Confirm>
      )}
    </>
  );
}

function Change({
  record,
  plans,
  done,
  close,
}: {
  readonly record: ManagedKey;
  readonly plans: readonly string[];
  readonly done: () => void;
  readonly close: () => void;
}) {
  return (
    <Confirm
      title={<Named action="change" record={record} />}
      action={texts.plans.save}
      change={async (form) => {
        const patch = keyPatchOf(form, record);
        if (Object.keys(patch).length > 0) await client.value.updateKey(record.id, patch);
        done();
      }}
      close={close}
      refused={done}
    >
      <p>{texts.key.consequences.change}</p>
      <div class="fields">
        <KeyFields plans={plans} given={record} />
      </div>
    </Confirm>
  );
}

function Rotate({
  record,
  close,
  refused,
  rotated,
}: {
  readonly record: ManagedKey;
  readonly close: () => void;
  readonly refused: () => void;
  readonly rotated: OneKeyProps["rotated"];
}) {
  // One name for all tries of this dialog with the same overlap.
  const tried = useRef({ overlap: -1, name: "" });
  return (
    <Confirm
      title={<Named action="rotate" record={record} />}
      action={texts.key.actions.rotate}
      change={async (form) => {
        const overlap = Math.round(Number(form.get("overlap")) * 3_600);
        if (tried.current.overlap !== overlap) tried.current = { overlap, name: randomName() };
        rotated(await client.value.rotateKey(record.id, { overlap_seconds: overlap }, tried.current.name));
      }}
      close={close}
      refused={refused}
    >
      <p>{texts.key.consequences.rotate}</p>
      <p>
        <label>
          {texts.key.overlap} <input name="overlap" type="number" min={0} max={720} step="any" required defaultValue="24" />
        </label>
      </p>
    </Confirm>
  );
}

/** The action with the name and the id of its key. */
function Named({ action, record }: { readonly action: Action; readonly record: ManagedKey }) {
  return (
    <>
      {texts.key.actions[action]} “<Outside text={record.label} />” ({record.id})?
    </>
  );
}

/** The limit that applies, and whether it is the key's or the plan's. Null, which is shown as unknown: the plan's limit is unknown. */
function limitOf<T>(own: T | null, plans: T | null | undefined, text: (limit: T) => string): string | null {
  if (own !== null) return `${text(own)} (${texts.key.ofKey})`;
  return plans === undefined ? null : `${text(plans as T)} (${texts.key.ofPlan})`;
}
