// Making elements. Text goes in as text only, so that no server's name can become markup.

/** `tag.class.class`, attributes where there are any (a function is a listener), and children. */
export function h(what, ...parts) {
  const [tag, ...classes] = what.split(".");
  const made = document.createElement(tag);
  if (tag === "button") made.type = tag;
  if (classes.length) made.className = classes.join(" ");
  const attributes = parts[0]?.constructor === Object ? parts.shift() : {};
  for (const [name, held] of Object.entries(attributes)) {
    if (typeof held === "function") made.addEventListener(name, held);
    else if (held !== false && held != null) made.setAttribute(name, held === true ? "" : held);
  }
  made.append(...parts.filter((child) => child != null && child !== false));
  return made;
}

/** Sets text where it differs: an unchanged page costs nothing. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Makes what is in an element anew where `key` says that it differs. */
export function renew(element, key, make) {
  if (element.dataset.key === key) return;
  element.dataset.key = key;
  element.replaceChildren(...make().filter(Boolean));
}

/** A sentence in which `commands` are marked. */
export const worded = (text) => text.split("`").map((part, index) => (index % 2 ? h("code", part) : part));

export function mark(element, name, held) {
  if (held == null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== held) element.setAttribute(name, held);
}

export const find = (id) => document.getElementById(id);

/** The address of a server in the page, and of a stretch of its history: a moment can be sent to somebody. */
export const hashOf = (url, { from, to } = {}) => `#${encodeURIComponent(url)}${from ? `&from=${Math.floor(from)}&to=${Math.ceil(to)}` : ""}`;

export function fromHash() {
  const given = new URLSearchParams(location.hash.slice(1));
  const [from, to] = ["from", "to"].map((name) => Number(given.get(name)));
  return { url: [...given.keys()][0], range: from > 0 && to - from >= 10 ? { from, to } : {} };
}

const tips = new WeakMap();

export function tip(element, text) {
  tips.set(element, text);
}

/** Shows explanations by pointer and by focus alike. */
export function startTips() {
  const box = find("tip");
  let shown = null;
  const hide = () => {
    shown = null;
    if (box.matches(":popover-open")) box.hidePopover();
  };
  const show = (event) => {
    let over = event.target;
    while (over && !tips.has(over)) over = over.parentElement;
    if (!over) return hide();
    if (over === shown || (event.type === "focusin" && !over.matches(":focus-visible"))) return;
    const text = tips.get(over)();
    if (!text) return hide();
    shown = over;
    say(box, text);
    // Anew, so that it lies above a dialog that opened after it.
    if (box.matches(":popover-open")) box.hidePopover();
    box.showPopover();
    const at = over.getBoundingClientRect();
    const below = at.bottom + box.offsetHeight + 12 < innerHeight;
    box.style.left = `${Math.max(4, Math.min(at.left, innerWidth - box.offsetWidth - 8))}px`;
    box.style.top = `${Math.max(4, below ? at.bottom + 6 : at.top - box.offsetHeight - 6)}px`;
  };
  setInterval(() => shown && say(box, shown.isConnected ? tips.get(shown)() : ""), 1000);
  const on = (name, act) => document.addEventListener(name, act, name === "scroll");
  on("pointerover", show);
  on("focusin", show);
  on("focusout", hide);
  on("scroll", hide);
  on("keydown", ({ key }) => key === "Escape" && hide());
}

/** A button that copies what `text` is, also where the page is not served securely. */
export function copyButton(text) {
  const button = h("button.copy", { "aria-label": `Copy ${text}` }, "copy");
  button.addEventListener("click", async () => {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const box = h("textarea", { readonly: true, class: "sr" });
      box.value = text;
      (button.closest("dialog") ?? document.body).append(box);
      box.select();
      done = document.execCommand("copy");
      box.remove();
      button.focus();
    }
    say(button, done ? "copied" : "select it by hand");
    say(find("say"), done ? `copied ${text}` : "copying is not allowed here");
    setTimeout(() => say(button, "copy"), 2000);
  });
  return button;
}
