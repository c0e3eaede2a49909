/** The choice of the theme, in the header of every page. */

import { texts } from "../texts.ts";
import { setTheme, theme, themes } from "../theme.ts";

export function ThemeChoice() {
  return (
    <select aria-label={texts.theme.label} value={theme.value} onChange={({ currentTarget }) => setTheme(currentTarget.value)}>
      {themes.map((name) => (
        <option key={name} value={name}>
          {texts.theme[name]}
        </option>
      ))}
    </select>
  );
}
