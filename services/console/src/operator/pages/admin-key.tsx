/** The form that is shown instead of a page while there is no admin key. */

import { useState } from "preact/hooks";
import { texts as shared } from "../../texts.ts";
import { useKey } from "../session.ts";
import { texts } from "../texts.ts";

export function AdminKeyForm({ title }: { readonly title: string }) {
  const [fault, setFault] = useState("");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    if (!useKey(String(form.get("key")), form.get("keep") !== null)) setFault(shared.key.bad);
  };
  return (
    <>
      <h1>{title}</h1>
      <p>{texts.admin.needed}</p>
      <form class="key" onSubmit={submit}>
        <label for="key">{texts.admin.label}</label>
        <input id="key" name="key" type="password" autocomplete="off" spellcheck={false} required aria-describedby="key-where key-fault" />
        <label class="check">
          <input type="checkbox" name="keep" /> {shared.key.keep}
        </label>
        <p id="key-fault" class="fault" role="alert">
          {fault}
        </p>
        <button type="submit">{shared.key.use}</button>
      </form>
      <p id="key-where" class="detail">
        {texts.admin.where} <code>netfacts keys create --label operator --scopes admin</code>
      </p>
    </>
  );
}
