/** `/plans`: limits that keys share. A plan can be changed, and can be deleted if no key refers to it. */

import type { Plan, PlanLimits } from "@netfacts/contracts";
import { useState } from "preact/hooks";
import { moment } from "../../domain/format.ts";
import { Outside } from "../../parts/basics.tsx";
import { Answered } from "../../parts/failed.tsx";
import { useOperatorAnswer } from "../asking.ts";
import { concurrencyText, monthText, rateText } from "../domain.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Table } from "../parts/table.tsx";
import { client } from "../session.ts";
import { texts } from "../texts.ts";

const t = texts.plans;

type Asked = { readonly action: "put" | "delete"; readonly plan: Plan | null };

export function PlansPage() {
  const [answer, again] = useOperatorAnswer("plans", (client, signal) => client.listPlans(signal));
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);
  const names = answer.state === "answered" ? answer.record.items.map(({ name }) => name) : [];
  return (
    <>
      <h1>{t.title}</h1>
      <p>{t.lead}</p>
      <div class="buttons tools">
        <button type="button" onClick={() => setAsked({ action: "put", plan: null })}>
          {t.create}
        </button>
      </div>
      <Answered answer={answer} again={again} isPart>
        {({ items }) => (
          <Table label={t.title} columns={t.columns}>
            {items.map((plan) => (
              <tr key={plan.name}>
                <th scope="row">
                  <Outside text={plan.name} />
                </th>
                <td>{rateText(plan.rate)}</td>
                <td>{monthText(plan.month)}</td>
                <td>{concurrencyText(plan.concurrency)}</td>
                <td>{plan.updated_at === null ? t.built : moment(plan.updated_at)}</td>
                <td>
                  <div class="buttons">
                    <button
                      type="button"
                      class="quiet"
                      aria-label={`${t.change} ${plan.name}`}
                      onClick={() => setAsked({ action: "put", plan })}
                    >
                      {t.change}
                    </button>
                    {plan.updated_at === null ? null : (
                      <button
                        type="button"
                        class="quiet"
                        aria-label={`${t.remove} ${plan.name}`}
                        onClick={() => setAsked({ action: "delete", plan })}
                      >
                        {t.remove}
                      </button>
                    )}
                  </div>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Answered>
      {asked?.action === "put" ? <PutPlan plan={asked.plan} names={names} done={again} close={close} /> : null}
      {asked?.action === "delete" && asked.plan !== null ? <DeletePlan name={asked.plan.name} done={again} close={close} /> : null}
    </>
  );
}

interface ChangeProps {
  readonly done: () => void;
  readonly close: () => void;
}

interface PutPlanProps extends ChangeProps {
  /** The plan to change; null: a new one. */
  readonly plan: Plan | null;
  /** Names of all plans, which a new one would replace without a question. */
  readonly names: readonly string[];
}

function PutPlan({ plan, names, done, close }: PutPlanProps) {
  const number = (form: FormData, name: string) => Number(form.get(name));
  return (
    <Confirm
      title={plan === null ? t.create : `${t.changeTitle} ${plan.name}`}
      action={t.save}
      change={async (form) => {
        const limits: PlanLimits = {
          rate: { limit: number(form, "rate"), window_seconds: number(form, "window") },
          month: { limit: number(form, "month") },
          concurrency: form.get("concurrency") === "" ? null : { limit: number(form, "concurrency") },
        };
        await client.value.putPlan(plan?.name ?? String(form.get("name")), limits);
        done();
      }}
      close={close}
      refused={done}
    >
      <div class="fields">
        {plan === null ? (
          <label>
            {t.name}{" "}
            <input
              name="name"
              required
              pattern="[a-z0-9][a-z0-9_\-]{0,39}"
              autocomplete="off"
              onInput={({ currentTarget }) => currentTarget.setCustomValidity(names.includes(currentTarget.value) ? t.exists : "")}
            />
          </label>
        ) : (
          <p>{t.consequence}</p>
        )}
        <label>
          {t.rate} <input name="rate" type="number" required min={1} max={1_000_000_000} defaultValue={String(plan?.rate.limit ?? "")} />
        </label>
        <label>
          {t.window}{" "}
          <input name="window" type="number" required min={1} max={86_400} defaultValue={String(plan?.rate.window_seconds ?? 1)} />
        </label>
        <label>
          {t.month} <input name="month" type="number" required min={1} max={1_000_000_000} defaultValue={String(plan?.month.limit ?? "")} />
        </label>
        <label>
          {t.concurrency}{" "}
          <input name="concurrency" type="number" min={1} max={1_000_000} defaultValue={String(plan?.concurrency?.limit ?? "")} />
        </label>
      </div>
    </Confirm>
  );
}

function DeletePlan({ name, done, close }: ChangeProps & { readonly name: string }) {
  return (
    <Confirm
      title={`${t.removeTitle} ${name}?`}
      action={t.remove}
      isFinal
      change={async () => {
        await client.value.deletePlan(name);
        done();
      }}
      close={close}
      refused={done}
    >
      <p>{name === "default" ? t.resets : t.removes}</p>
    </Confirm>
  );
}
