/** The search field with its suggestions: a combobox with a list (WAI-ARIA Authoring Practices), which never moves the focus. */

import type { SearchResult } from "@netfacts/contracts";
import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { classify, pathOf } from "../domain/classify.ts";
import { count } from "../domain/format.ts";
import { pageOf, searchedText, searchPath, wantsSuggestions } from "../domain/search.ts";
import { navigate, path, query } from "../router.ts";
import { client, hasKey } from "../session.ts";
import { Suggester, type Suggestions } from "../suggester.ts";
import { texts } from "../texts.ts";
import { Outside } from "./basics.tsx";
import { MarkedTitle, typeNames } from "./search-result.tsx";

/** Most suggestions: a short list that is easy to read. */
const suggestionsMax = 8;

export function SearchField() {
  const { text, setText, suggestions, isOpen, setOpen, active, setActive, suggest } = useSuggestions();
  const items = suggestions?.items ?? [];
  const leaveFor = (page: string) => {
    suggest("");
    setText("");
    navigate(page);
  };
  const choose = (index: number) => {
    const page = pageOf(items[index]?.link ?? null);
    if (page !== null) leaveFor(page);
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (isOpen && active >= 0) return choose(active);
    const subject = classify(text);
    if (subject !== null) return leaveFor(pathOf(subject));
    suggest("");
    if (text.trim() !== "") navigate(searchPath(text));
  };
  const press = (event: KeyboardEvent) => {
    // During composition, keys belong to the input method.
    if (event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      if (isOpen) return setOpen(false);
      setText("");
      suggest("");
    }
    if ((event.key !== "ArrowDown" && event.key !== "ArrowUp") || items.length === 0) return;
    event.preventDefault();
    setOpen(true);
    setActive(neighbour(items, isOpen ? active : -1, event.key === "ArrowDown" ? 1 : -1));
  };
  return (
    <search>
      <form onSubmit={submit}>
        <input
          id="search"
          name="search"
          type="text"
          role="combobox"
          enterkeyhint="search"
          maxLength={200}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-label={texts.search.label}
          aria-autocomplete="list"
          aria-expanded={isOpen}
          aria-controls="suggestions"
          aria-activedescendant={isOpen && active >= 0 ? optionId(active) : undefined}
          placeholder={texts.search.placeholder}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            // The shown suggestions are for the previous text, so Enter must use the new text.
            setActive(-1);
            if (!event.isComposing) suggest(event.currentTarget.value);
          }}
          onCompositionEnd={({ currentTarget }) => suggest(currentTarget.value)}
          onKeyDown={press}
          onBlur={() => suggest("")}
        />
        <button type="submit">{texts.search.button}</button>
      </form>
      <div
        id="suggestions"
        role="listbox"
        aria-label={texts.search.suggestions}
        hidden={!isOpen}
        // The focus stays in the field.
        onMouseDown={(event) => event.preventDefault()}
      >
        {isOpen
          ? items.map((result, index) => (
              <Suggestion
                key={`${result.type} ${result.title} ${result.link}`}
                result={result}
                index={index}
                isActive={index === active}
                choose={choose}
              />
            ))
          : null}
      </div>
      <p class="unseen" role="status">
        {suggestions === null ? "" : texts.search.count(count(items.length), count(suggestions.total))}
      </p>
    </search>
  );
}

interface SuggestionProps {
  readonly result: SearchResult;
  readonly index: number;
  readonly isActive: boolean;
  readonly choose: (index: number) => void;
}

function Suggestion({ result, index, isActive, choose }: SuggestionProps) {
  const hasPage = pageOf(result.link) !== null;
  const detail = hasPage ? result.subtitle : texts.search.noPage;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of a combobox are those of its field
    <div
      id={optionId(index)}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      aria-disabled={!hasPage}
      ref={(option) => {
        if (isActive) option?.scrollIntoView({ block: "nearest" });
      }}
      onClick={() => choose(index)}
    >
      <span class="title">
        <MarkedTitle result={result} />
      </span>
      <span class="badge">{typeNames[result.type]}</span>
      {detail === null ? null : (
        <span class="detail">
          <Outside text={detail} />
        </span>
      )}
    </div>
  );
}

/** State of the field: its text, and the suggestions for it. */
function useSuggestions() {
  const [text, setText] = useState("");
  const [suggestions, setSuggestions] = useState<Suggestions | null>(null);
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const asked = client.value;
  const suggester = useMemo(
    () =>
      new Suggester({
        ask: async (q, signal) => {
          const { results } = await asked.search(q, { limit: suggestionsMax, signal });
          return { items: results.items, total: results.total };
        },
        limits: () => asked.limits,
        show: (found) => {
          setSuggestions(found);
          setOpen(found !== null && found.items.length > 0);
          setActive(-1);
        },
      }),
    [asked],
  );
  useEffect(() => () => suggester.type(null), [suggester]);
  const [page, search] = [path.value, query.value];
  // A layout effect runs before the next letter can be typed.
  useLayoutEffect(() => setText(page === "/search" ? searchedText(search) : ""), [page, search]);
  const suggest = (typed: string) => suggester.type(hasKey.value && wantsSuggestions(typed) ? typed.trim() : null);
  return { text, setText, suggestions, isOpen, setOpen, active, setActive, suggest };
}

function optionId(index: number): string {
  return `suggestion-${index}`;
}

/** The next suggestion that has a page, cyclic; -1 is the field itself. */
function neighbour(items: readonly SearchResult[], active: number, step: 1 | -1): number {
  const stops = [-1, ...items.flatMap(({ link }, index) => (pageOf(link) === null ? [] : [index]))];
  return stops.at((stops.indexOf(active) + step) % stops.length) ?? -1;
}
