// Pages work without this file; it adds live updates, scrolling lists, a player of frames, and keys.
"use strict";
const BLOCK = 100, ROW = 37, MOST = 800000;
const lists = [];

async function text(address) {
  const answer = await fetch(address, {headers: {"x-part": "1"}});
  if (!answer.ok) throw new Error(String(answer.status));
  return answer;
}

class List {
  constructor(box) {
    this.box = box;
    this.body = box.querySelector("tbody");
    this.address = new URL(box.dataset.list, location.href);
    this.blocks = new Map();
    this.drawn = "";
    this.total = Number(box.dataset.total);
    const first = Number(box.dataset.first);
    if (first % BLOCK === 0) this.blocks.set(first / BLOCK, this.body.innerHTML);
    this.above = this.gap();
    this.below = this.gap();
    box.addEventListener("scroll", () => this.wanted(), {passive: true});
    new ResizeObserver(() => this.wanted()).observe(box);
    if (first) box.scrollTop = first * ROW;
    this.shown = box.nextElementSibling && box.nextElementSibling.querySelector("[data-shown]");
    if (this.shown) for (const link of box.nextElementSibling.querySelectorAll("a")) link.hidden = true;
    this.show(first / BLOCK | 0);
    if (first) box.scrollTop = first * ROW;
  }
  gap() {
    const row = document.createElement("tr");
    row.className = "gap";
    row.setAttribute("aria-hidden", "true");
    row.append(document.createElement("td"));
    return row;
  }
  wanted() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.show(this.current()); });
  }
  current() { return Math.max(0, Math.min(this.last(), Math.floor(this.box.scrollTop / ROW / BLOCK))); }
  last() { return Math.max(0, Math.ceil(Math.min(this.total, MOST) / BLOCK) - 1); }
  async load(block, again) {
    if (this.blocks.has(block) && !again) return;
    const address = new URL(this.address);
    address.searchParams.set("offset", block * BLOCK);
    address.searchParams.set("rows", "1");
    const answer = await text(address);
    this.total = Number(answer.headers.get("x-total"));
    this.blocks.set(block, await answer.text());
    if (this.blocks.size > 60) for (const key of this.blocks.keys()) { if (Math.abs(key - block) > 20) this.blocks.delete(key); }
  }
  show(block) {
    const near = [block - 1, block, block + 1].filter((b) => b >= 0 && b <= this.last());
    const missing = near.filter((b) => !this.blocks.has(b));
    this.draw(near);
    if (missing.length) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => Promise.all(missing.map((b) => this.load(b))).then(() => this.show(this.current()), () => {}), 40);
    }
  }
  draw(near) {
    const held = near.filter((b) => this.blocks.has(b));
    const key = held.join() + "/" + this.total + "/" + held.map((b) => this.blocks.get(b).length).join();
    const rows = Math.min(this.total, MOST);
    const first = Math.floor(this.box.scrollTop / ROW) + 1;
    if (this.shown) this.shown.textContent = rows ? `${Math.min(first, rows)} to ${Math.min(rows, first + Math.floor(this.box.clientHeight / ROW) - 1)} of ${this.total}` : "none";
    if (key === this.drawn) return;
    this.drawn = key;
    const focused = document.activeElement && this.body.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    const from = held.length ? held[0] * BLOCK : 0, until = held.length ? Math.min(rows, (held[held.length - 1] + 1) * BLOCK) : 0;
    this.above.firstChild.style.height = from * ROW + "px";
    this.below.firstChild.style.height = Math.max(0, rows - until) * ROW + "px";
    this.body.innerHTML = held.map((b) => this.blocks.get(b)).join("");
    this.above.firstChild.colSpan = this.below.firstChild.colSpan = 99;
    if (from) this.body.prepend(this.above);
    if (until < rows) this.body.append(this.below);
    if (focused) for (const link of this.body.querySelectorAll("a")) if (link.getAttribute("href") === focused) { link.focus({preventScroll: true}); break; }
  }
  async refresh() {
    const block = this.current(), held = [...this.blocks.keys()];
    await this.load(block, true);
    for (const b of held) if (b !== block) this.blocks.delete(b);
    this.show(block);
  }
}

function begin(part) {
  for (const box of part.querySelectorAll("[data-list]")) lists.push(new List(box));
  for (const player of part.querySelectorAll("[data-frames]")) {
    const slide = player.querySelector("input"), picture = player.querySelector("img"), said = player.querySelector("output");
    const frames = JSON.parse(player.dataset.frames);
    slide.addEventListener("input", () => {
      picture.src = frames[slide.value][1]; picture.alt = frames[slide.value][0]; said.textContent = frames[slide.value][0];
    });
  }
}

function same(a, b) { return a.innerHTML === b.innerHTML; }

async function refresh() {
  const page = new DOMParser().parseFromString(await (await text(location.href)).text(), "text/html");
  const title = page.querySelector("h1");
  // The address has another page now, such as the suite after its index was built.
  const gone = [...document.querySelectorAll("main > section")].some((old) => !page.getElementById(old.id));
  if (!title || title.textContent !== document.querySelector("h1").textContent || gone) { location.reload(); return; }
  document.title = page.title;
  for (const fresh of page.querySelectorAll("#head, #tabs, main > section")) {
    const now = document.getElementById(fresh.id);
    if (!now) { if (fresh.matches("section")) { document.querySelector("main").append(document.adoptNode(fresh)); begin(fresh); } continue; }
    if ("still" in now.dataset || now.querySelector("[data-list]") || same(now, fresh)) continue;
    const focus = document.activeElement;
    if (now.contains(focus) && focus.matches("input, select, textarea")) continue;
    const address = now.contains(focus) && focus.getAttribute("href");
    const open = [...now.querySelectorAll("details")].map((d) => d.open);
    const scrolled = [...now.querySelectorAll(".scroll, .graph")].map((s) => [s.scrollLeft, s.scrollTop]);
    now.replaceChildren(...document.adoptNode(fresh).childNodes);
    now.querySelectorAll("details").forEach((d, i) => { if (open[i] !== undefined) d.open = open[i]; });
    now.querySelectorAll(".scroll, .graph").forEach((s, i) => { if (scrolled[i]) [s.scrollLeft, s.scrollTop] = scrolled[i]; });
    if (address) for (const link of now.querySelectorAll("a")) if (link.getAttribute("href") === address) { link.focus({preventScroll: true}); break; }
  }
  for (const list of lists) if (list.box.isConnected) await list.refresh();
}

function follow(address) {
  const said = document.getElementById("link"), events = new EventSource(address);
  let asked = false, busy = false;
  const go = async () => {
    if (busy) { asked = true; return; }
    busy = true;
    try { await refresh(); } catch { /* The next change asks again. */ }
    await new Promise((later) => setTimeout(later, 700));
    busy = false;
    if (asked) { asked = false; go(); }
  };
  events.addEventListener("change", (event) => { document.body.dataset.version = event.data; go(); });
  events.addEventListener("open", () => { document.body.dataset.live = "yes"; });
  events.addEventListener("error", () => { document.body.dataset.live = "no"; said.textContent = "Live updates stopped: the server does not respond."; });
  addEventListener("pagehide", () => events.close());
}

function step(by) {
  const links = [...document.querySelectorAll("main tbody th a, main tbody td:first-child a, main .turns summary")];
  if (!links.length) return;
  const at = links.indexOf(document.activeElement);
  const next = links[Math.max(0, Math.min(links.length - 1, at < 0 ? 0 : at + by))];
  next.focus();
  next.scrollIntoView({block: "nearest"});
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  if (event.key === "/") { event.preventDefault(); document.getElementById("search").focus(); }
  else if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key === "u") { const up = [...document.querySelectorAll(".crumbs a")].pop(); if (up) up.click(); }
});

begin(document);
if (document.body.dataset.follow) follow(document.body.dataset.follow);
