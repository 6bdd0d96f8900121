// What keys do; the theme.

import { find, hashOf, say } from "./dom.js";
import { servers } from "./fleet.js";
import { opened } from "./panel.js";

/** The theme that was chosen here, kept where the browser allows; else it lasts as long as the page. */
function kept(theme) {
  try {
    return theme ? localStorage.setItem("plimsoll-theme", theme) : localStorage.getItem("plimsoll-theme");
  } catch {
    return null;
  }
}

/** The theme: as the system has it until it is chosen. */
export function startTheme(redraw) {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  if (/^(light|dark)$/.test(kept())) root.dataset.theme = kept();
  dark.addEventListener("change", redraw);
  return () => {
    const now = root.dataset.theme ?? (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    kept(root.dataset.theme);
    say(find("say"), `${root.dataset.theme} theme`);
    redraw();
  };
}

/** The link that a move by the arrows leads to: beside, or the nearest in the next row. */
function nearest(links, at, key) {
  const from = links[at].getBoundingClientRect();
  const down = key === "ArrowDown";
  const costs = links.map((link, index) => {
    const box = link.getBoundingClientRect();
    const away = down ? box.top - from.bottom : from.top - box.bottom;
    return away < -4 || index === at ? Infinity : Math.max(0, away) * 3 + Math.abs(box.left + box.width / 2 - from.left - from.width / 2);
  });
  const least = Math.min(...costs);
  return least < Infinity ? costs.indexOf(least) : at + (down ? 1 : -1);
}

function move(key) {
  const links = servers();
  if (!links.length) return;
  const at = links.indexOf(document.activeElement);
  const step = { j: 1, ArrowRight: 1, k: -1, ArrowLeft: -1 }[key];
  const to = at < 0 ? Math.max(0, links.findIndex((link) => link.tabIndex === 0)) : step ? at + step : nearest(links, at, key);
  const next = links[Math.max(0, Math.min(links.length - 1, to))];
  for (const link of links) if (link.tabIndex === 0) link.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

/** In an open panel, j and k go on to the next server of the list. */
function turn(key) {
  const hashes = servers().map(({ hash }) => hash);
  const at = hashes.indexOf(hashOf(opened()));
  const next = hashes[at + (key === "j" ? 1 : -1)];
  if (next) location.replace(next);
}

export function startKeys(toggleTheme, clearFilter) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key, target } = event;
    const typing = target.matches("input, select, textarea");
    if (key === "Escape" && typing) {
      clearFilter();
      target.blur();
      return;
    }
    if (typing) {
      if (key === "Enter" || key === "ArrowDown") {
        target.blur();
        move("j");
        event.preventDefault();
      }
      return;
    }
    if (find("keys").open) return;
    if (key === "?") find("keys").showModal();
    else if (key === "t") toggleTheme();
    else if (opened() !== null) {
      if (key === "j" || key === "k") turn(key);
      return;
    } else if (key === "/") {
      find("filter").focus();
      event.preventDefault();
    } else if (key === "Escape") clearFilter();
    else if (["j", "k"].includes(key) || (key.startsWith("Arrow") && (servers().includes(document.activeElement) || document.activeElement === document.body))) {
      move(key);
      event.preventDefault();
    }
  });
}
