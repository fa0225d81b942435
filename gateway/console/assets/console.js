// The script of the console. Every page works without it.

// What the server renders escapes all that people wrote, so its parts of pages are the only HTML that comes in here.
const trusted = window.trustedTypes?.createPolicy("console", { createHTML: (html) => html });
const partOf = (html) => {
  const template = document.createElement("template");
  template.innerHTML = trusted ? trusted.createHTML(html) : html;
  return template.content;
};

// Keys. A switch in the help turns single letters off.
const silent = "portcullis-no-keys";
const isOff = () => {
  try {
    return localStorage.getItem(silent) === "1";
  } catch {
    return false;
  }
};
const help = document.getElementById("keys");
const openHelp = () => {
  if (help && !help.open) help.showModal();
};
const toggle = help?.querySelector("input");
if (toggle) {
  toggle.checked = !isOff();
  toggle.addEventListener("change", () => {
    try {
      if (toggle.checked) localStorage.removeItem(silent);
      else localStorage.setItem(silent, "1");
    } catch {
      // storage is off: the switch counts until the page is left
    }
  });
}
for (const button of document.querySelectorAll("[data-help]")) {
  button.hidden = false;
  button.addEventListener("click", openHelp);
}

const typing = (target) => target.closest?.("input, select, textarea, [contenteditable]");
const rows = () => [...document.querySelectorAll("main .rows > li, main .timeline > li, main tbody tr")].filter((row) => row.checkVisibility?.() ?? true);
const move = (step) => {
  const all = rows();
  if (!all.length) return;
  const now = all.findIndex((row) => row.contains(document.activeElement));
  const row = all[now < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, now + step))];
  row.tabIndex = -1;
  row.dataset.row = "";
  row.focus();
  row.scrollIntoView({ block: "nearest" });
};

// Times are those of a clock that nobody sets back.
let going = -Infinity;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typing(event.target) || (toggle && !toggle.checked)) return;
  if (document.querySelector("dialog[open]")) return;
  if (performance.now() - going < 1500) {
    going = -Infinity;
    const entry = document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`);
    if (entry) {
      event.preventDefault();
      entry.click();
    }
    return;
  }
  switch (event.key) {
    case "/":
      document.querySelector("main input:not([type=hidden])")?.focus();
      break;
    case "?":
      openHelp();
      break;
    case "j":
      move(1);
      break;
    case "k":
      move(-1);
      break;
    case "Enter":
      if (!("row" in event.target.dataset)) return;
      event.target.querySelector("a[href]")?.click();
      break;
    case "g":
      going = performance.now();
      return;
    default:
      return;
  }
  event.preventDefault();
});

// A long list of files shows the file that is open.
const files = document.querySelector(".files");
const current = files?.querySelector("[aria-current]");
if (current) files.scrollTop += current.getBoundingClientRect().top - files.getBoundingClientRect().top - files.clientHeight / 2;

// Following: new rows come before the others, while the page is looked at.
const list = document.querySelector("[data-follow]");
const mostRows = 300;
const slowest = 60000;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const seen = () =>
  new Promise((done) => {
    const look = () => {
      if (document.hidden) return;
      document.removeEventListener("visibilitychange", look);
      done();
    };
    document.addEventListener("visibilitychange", look);
    look();
  });
const say = (text) => {
  const live = document.getElementById("live");
  if (live && live.textContent !== text) live.textContent = text;
};

// New rows come with ids. Those of people whose names are on the page get them from there.
const names = new Map();
const learn = () => {
  for (const id of list.querySelectorAll(".who .id")) names.set(id.textContent, id.previousElementSibling.textContent);
};
const nameIn = (part) => {
  for (const who of part.querySelectorAll(".who bdi")) {
    const name = names.get(who.textContent);
    if (!name || who.nextElementSibling?.matches(".id")) continue;
    const id = document.createElement("code");
    id.className = "id";
    id.textContent = who.textContent;
    who.textContent = name;
    who.after(" ", id);
  }
};

const prepend = (html) => {
  const part = partOf(html);
  nameIn(part);
  for (const row of part.children) row.classList.add("arrived");
  if (!part.childElementCount) return;
  document.querySelector("[data-empty]")?.remove();
  list.prepend(part);
  while (list.childElementCount > mostRows) list.lastElementChild.remove();
};

const follow = async () => {
  let after = list.dataset.after;
  let failures = 0;
  let leftOut = false;
  for (;;) {
    await seen();
    const began = performance.now();
    if (!failures) say(leftOut ? "Live, without some decisions: more are made than fit here. Refresh to see them." : "Live: new decisions appear here.");
    let answer;
    try {
      answer = await fetch(`${list.dataset.follow}&after=${encodeURIComponent(after)}`, { credentials: "same-origin", redirect: "error" });
    } catch {
      answer = null;
    }
    if (answer?.ok) {
      failures = 0;
      after = answer.headers.get("X-After") || after;
      leftOut ||= answer.headers.get("X-Left-Out") === "true";
      prepend(await answer.text());
      await pause(Math.max(0, 500 - (performance.now() - began)));
    } else if (answer && ![429, 500, 502, 503, 504].includes(answer.status)) {
      say("No longer live. Refresh to see newer decisions.");
      return;
    } else {
      say("Not live now; trying again.");
      await pause(Math.min(slowest, 1000 * 2 ** failures++) * (0.5 + Math.random() / 2));
    }
  }
};
if (list) {
  learn();
  follow();
}

// A part of a page that moves is asked for again until the server says that it rests.
const everyPoll = 3000;
const focused = (part) => part.contains(document.activeElement) && document.activeElement.getAttribute("href");
const poll = async (part) => {
  for (let failures = 0; part.dataset.poll; ) {
    await pause(Math.min(slowest, everyPoll * 2 ** failures));
    await seen();
    const answer = await fetch(part.dataset.poll, { credentials: "same-origin", redirect: "error" }).catch(() => null);
    if (answer?.ok) {
      failures = 0;
      const newer = partOf(await answer.text()).firstElementChild;
      const href = focused(part);
      part.replaceWith(newer);
      if (href) newer.querySelector(`a[href="${CSS.escape(href)}"]`)?.focus();
      part = newer;
    } else if (answer && ![429, 500, 502, 503, 504].includes(answer.status)) {
      return;
    } else {
      failures++;
    }
  }
};
for (const part of document.querySelectorAll("[data-poll]")) poll(part);
