/** The form for a new key. A failed try can be repeated: the same form makes only one key. */

import type { CreatedKey } from "@netfacts/contracts";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Failure, failureOf } from "../../asked.ts";
import { Failed } from "../../parts/failed.tsx";
import { newKeyOf, randomName } from "../domain.ts";
import { KeyFields } from "../parts/key-fields.tsx";
import { client } from "../session.ts";
import { texts } from "../texts.ts";

interface NewKeyProps {
  readonly plans: readonly string[];
  readonly made: (key: CreatedKey) => void;
  readonly close: () => void;
}

export function NewKeyForm({ plans, made, close }: NewKeyProps) {
  const form = useRef<HTMLFormElement>(null);
  const tried = useRef({ text: "", name: "" });
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState("");
  useLayoutEffect(() => form.current?.querySelector("input")?.focus(), []);
  const make = () => {
    if (isBusy || form.current === null) return;
    const spec = newKeyOf(new FormData(form.current));
    setFault(spec.scopes.length === 0 ? texts.newKey.noScope : "");
    if (spec.scopes.length === 0) return;
    const text = JSON.stringify(spec);
    if (tried.current.text !== text) tried.current = { text, name: randomName() };
    setFailure(null);
    setBusy(true);
    client.value.createKey(spec, tried.current.name).then(made, (error) => {
      setFailure(failureOf(error));
      setBusy(false);
    });
  };
  const t = texts.newKey;
  return (
    <form
      ref={form}
      class="card fields"
      onSubmit={(event) => {
        event.preventDefault();
        make();
      }}
    >
      <h2>{texts.keys.create}</h2>
      <KeyFields plans={plans} given={null} />
      <p class="fault" role="alert">
        {fault}
      </p>
      <label for="environment">{t.environment}</label>
      <select id="environment" name="environment">
        <option value="live">live</option>
        <option value="test">test</option>
      </select>
      {failure === null ? null : <Failed failure={failure} again={make} />}
      <div class="buttons">
        <button type="submit" aria-disabled={isBusy}>
          {texts.keys.create}
        </button>
        <button type="button" class="quiet" onClick={close}>
          {texts.cancel}
        </button>
      </div>
    </form>
  );
}
