/** Filters of a page. They are in the query of its URL, so that a link, a reload and the way back show the same. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { query, showQuery } from "../../router.ts";

/** By the name in the query. Empty: everything, or what the page shows first. */
type Filters<Name extends string> = Readonly<Record<Name, string>>;

/** The filters in the query, and a function that changes some of them. */
export function useFilters<const Name extends string>(
  names: readonly Name[],
): readonly [Filters<Name>, (changed: Partial<Filters<Name>>) => void] {
  const given = new URLSearchParams(query.value);
  const filters = Object.fromEntries(names.map((name) => [name, given.get(name) ?? ""])) as Filters<Name>;
  const change = (changed: Partial<Filters<Name>>) => {
    const changedTo = Object.entries<string>({ ...filters, ...changed }).filter(([, value]) => value !== "");
    const search = new URLSearchParams(changedTo).toString();
    showQuery(search === "" ? "" : `?${search}`);
  };
  return [filters, change];
}

interface FilterFormProps<Name extends string> {
  readonly filters: Filters<Name>;
  readonly change: (filters: Filters<Name>) => void;
  /** Fields with the names of the filters, and the button. */
  readonly children: ComponentChildren;
}

/** A form whose fields have the values of the filters, and which changes them when it is sent. */
export function FilterForm<Name extends string>({ filters, change, children }: FilterFormProps<Name>) {
  const form = useRef<HTMLFormElement>(null);
  const names = Object.keys(filters) as Name[];
  // Only when they have changed: the page is also rendered while somebody types.
  useLayoutEffect(() => {
    for (const name of names) {
      const field = form.current?.elements.namedItem(name);
      if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) field.value = filters[name];
    }
  }, [JSON.stringify(filters)]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    change(Object.fromEntries(names.map((name) => [name, String(fields.get(name) ?? "").trim()])) as Filters<Name>);
  };
  return (
    <form ref={form} class="tools buttons" onSubmit={submit}>
      {children}
    </form>
  );
}
