/** The default theme with the fonts of the reader's system: nothing is fetched from another host. */

export { default } from "vitepress/theme-without-fonts";
