/** `/`: an overview of the pages for operators. */

import { texts } from "../texts.ts";

export function HomePage() {
  return (
    <>
      <h1>{texts.home.title}</h1>
      <ul class="examples">
        {texts.pages.map(([to, name, what]) => (
          <li key={to}>
            <a href={to}>{name}</a> <span class="detail">{what}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
