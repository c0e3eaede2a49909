/** The frame of every page (search, navigation, theme, help), and the page for each path. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { plainText } from "./domain/plain-text.ts";
import { searchedText } from "./domain/search.ts";
import { HomePage } from "./pages/home.tsx";
import { KeyForm, KeyPage } from "./pages/key.tsx";
import {
  AddressPage,
  AsPage,
  BulkPage,
  CompareForm,
  ComparePage,
  DataPage,
  PrefixPage,
  ReverseDnsPage,
  SearchPage,
  ValidityForm,
  ValidityPage,
} from "./pages/lazy.ts";
import { Boundary } from "./parts/boundary.tsx";
import { SearchField } from "./parts/search-field.tsx";
import { ThemeChoice } from "./parts/theme-choice.tsx";
import { useFocusAfter } from "./parts/use-focus-after.ts";
import { followLinks, path, query } from "./router.ts";
import { hasKey } from "./session.ts";
import { texts } from "./texts.ts";

interface Shown {
  readonly title: string;
  /** Name of the page, as the heading of the key form. It contains no text from the URL, which a stranger may have written. */
  readonly kind: string;
  readonly needsKey: boolean;
  readonly page: ComponentChildren;
}

/** Most characters of a text from the URL in the title of the document. */
const titleCharactersMax = 100;

/** The page for a path; null: there is none. */
function shownAt(path: string, query: string): Shown | null {
  const [, word, rest = ""] = /^\/([^/]*)(?:\/(.*?))?\/?$/.exec(path) ?? [];
  let text: string;
  try {
    text = decodeURIComponent(rest);
  } catch {
    return null;
  }
  const open = (kind: string, page: ComponentChildren): Shown => ({ title: kind, kind, needsKey: false, page });
  if (text === "") {
    if (word === "") return open(texts.product, <HomePage />);
    if (word === "data") return open(texts.nav.data, <DataPage />);
    if (word === "bulk") return { ...open(texts.bulk.title, <BulkPage />), needsKey: true };
    if (word === "compare") return open(texts.nav.compare, <CompareForm />);
    if (word === "search") return resultsOf(searchedText(query));
    if (word === "key") return open(texts.nav.key, <KeyPage />);
    return word === "validity" ? open(texts.kinds.validity, <ValidityForm />) : null;
  }
  const of = (kind: string, title: string, page: ComponentChildren): Shown => ({
    title: plainText(title, titleCharactersMax),
    kind,
    needsKey: true,
    page,
  });
  if (word === "compare") return of(texts.nav.compare, text, <ComparePage subjects={text} />);
  if (word === "address") return of(texts.kinds.address, text, <AddressPage ip={text} />);
  if (word === "prefix") return of(texts.kinds.prefix, text, <PrefixPage prefix={text} />);
  if (word === "as") return of(texts.kinds.as, text, <AsPage asn={text} />);
  if (word === "reverse-dns") return of(texts.kinds.names, `Names of ${text}`, <ReverseDnsPage ip={text} />);
  const [, asn, prefix] = /^([^/]+)\/(.+)$/.exec(text) ?? [];
  if (word !== "validity" || asn === undefined || prefix === undefined) return null;
  return of(texts.kinds.validity, `${asn} and ${prefix}`, <ValidityPage asn={asn} prefix={prefix} />);
}

function resultsOf(q: string): Shown {
  const title = q === "" ? texts.results.title : texts.results.titleOf(plainText(q, titleCharactersMax));
  return { title, kind: texts.results.title, needsKey: q !== "", page: <SearchPage q={q} /> };
}

export function App() {
  const [isHelp, setHelp] = useState(false);
  const shown = shownAt(path.value, query.value);
  const isAskingForKey = shown?.needsKey === true && !hasKey.value;
  const title = (isAskingForKey ? shown.kind : shown?.title) ?? texts.notFound.title;
  useEffect(() => {
    document.title = title === texts.product ? title : `${title} · ${texts.product}`;
  }, [title]);
  useFocusAfter(hasKey.value);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof Element && event.target.matches("input:not([type=checkbox]), textarea, select")) return;
      if (event.key === "?") setHelp(true);
      if (event.key !== "/") return;
      event.preventDefault();
      document.querySelector<HTMLInputElement>("#search")?.select();
    };
    addEventListener("keydown", press);
    document.addEventListener("click", followLinks);
    return () => {
      removeEventListener("keydown", press);
      document.removeEventListener("click", followLinks);
    };
  }, []);
  return (
    <>
      <a class="skip" href="#answer">
        {texts.skip}
      </a>
      <header>
        <a class="brand" href="/">
          {texts.product}
        </a>
        <SearchField />
        <nav aria-label={texts.nav.label}>
          <a href="/validity">RPKI</a>
          <a href="/compare">{texts.nav.compare}</a>
          <a href="/bulk">{texts.nav.bulk}</a>
          <a href="/data">{texts.nav.data}</a>
          <a href="/key">{texts.nav.key}</a>
          <a href="/docs">{texts.nav.docs}</a>
          <button type="button" class="quiet" aria-label={texts.nav.help} onClick={() => setHelp(true)}>
            ?
          </button>
          <ThemeChoice />
        </nav>
      </header>
      <main id="answer" tabIndex={-1}>
        {shown === null ? (
          <NotFound />
        ) : isAskingForKey ? (
          <KeyForm title={shown.kind} />
        ) : (
          <div key={path.value}>
            <Boundary again={null}>{shown.page}</Boundary>
          </div>
        )}
      </main>
      {isHelp ? <Help close={() => setHelp(false)} /> : null}
    </>
  );
}

function NotFound() {
  return (
    <>
      <h1>{texts.notFound.title}</h1>
      <p>{texts.notFound.text}</p>
    </>
  );
}

function Help({ close }: { readonly close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={close}>
      <h2 id="help-title">{texts.help.title}</h2>
      <dl>
        {texts.help.rows.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => dialog.current?.close()}>
        {texts.help.close}
      </button>
    </dialog>
  );
}
