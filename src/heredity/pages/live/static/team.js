"use strict";
// Content of tasks is inserted as text; the server renders and escapes the two pictures.
const at = id => document.getElementById(id);
let token = sessionStorage.getItem("token") || "", current = "", following = null, drawn = "";

async function ask(path, body) {
  const answer = await fetch(path, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: "Bearer " + token, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (answer.status === 401) { shut("Invalid token."); throw new Error("token"); }
  if (!answer.ok) throw new Error((await answer.json()).message);
  return answer;
}

function shut(said) {
  at("inside").hidden = true; at("door").hidden = false; at("link").textContent = said; at("token").focus();
}

function element(tag, text, name) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  return made;
}

const short = (text, most) => text.length <= most ? text : text.slice(0, most).replace(/\s+\S*$/, "") + "…";
const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

async function open() {
  if (!token) return shut("Enter the token.");
  const team = await (await ask("/team")).json();
  sessionStorage.setItem("token", token);
  at("door").hidden = true; at("inside").hidden = false; at("link").textContent = "connected";
  at("who").replaceChildren(new Option("the team", ""), ...Object.keys(team.agents).map(name => new Option(name, name)));
  await list();
  choose();
}

async function list() {
  const { tasks } = await (await ask("/tasks")).json();
  at("tasks").replaceChildren(...tasks.map(task => {
    const item = element("li"), link = element("a", short(task.task, 90));
    link.href = "#/" + task.id;
    if (task.id === current) link.setAttribute("aria-current", "true");
    link.append(element("small", task.state, "state " + task.state));
    item.append(link);
    return item;
  }));
}

function choose() {
  const found = location.hash.match(/^#\/([a-z0-9-]+)$/);
  if (following) following.abort();
  current = found ? found[1] : "";
  at("task").hidden = !current; at("none").hidden = Boolean(current);
  if (!current) return;
  drawn = ""; at("messages").replaceChildren(); at("review").hidden = true; at("wrong").textContent = "";
  follow(current);
  list();
}

// fetch instead of EventSource, which could send the token only in the address.
async function follow(id) {
  const stop = following = new AbortController();
  for (let pause = 500; current === id && !stop.signal.aborted; pause = Math.min(pause * 2, 8000)) {
    try {
      const answer = await fetch("/tasks/" + id + "/events", { headers: { authorization: "Bearer " + token }, signal: stop.signal });
      if (!answer.ok) { at("link").textContent = (await answer.json()).message; return; }
      at("link").textContent = "connected"; at("messages").replaceChildren(); pause = 500;
      if (await read(answer.body.getReader(), id)) { list(); return; }
    } catch (error) {
      if (stop.signal.aborted) return;
      at("link").textContent = "the server does not respond; retrying";
    }
    await new Promise(done => setTimeout(done, pause));
  }
}

async function read(reader, id) {
  const decoder = new TextDecoder();
  let rest = "", over = false;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return over;
    rest += decoder.decode(value, { stream: true });
    const events = rest.split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const line = event.split("\n").find(text => text.startsWith("data: "));
      if (line && current === id) over = show(JSON.parse(line.slice(6)));
    }
  }
}

function show(task) {
  const over = !["queued", "working", "waiting"].includes(task.state);
  at("asked").textContent = task.task;
  if (at("state").textContent !== task.state) { at("state").textContent = task.state; at("state").className = "state " + task.state; list(); }
  const cost = task.usage.cost_usd === null ? "cost unknown" : "$" + task.usage.cost_usd.toFixed(4);
  const left = Math.max(0, task.seconds.limit - task.seconds.used);
  at("numbers").textContent = `${count(task.rounds, "round")}, ${count(task.usage.calls, "model call")}, ${cost}, ${task.seconds.used.toFixed(0)} s`
    + (over ? "" : `, ${left.toFixed(0)} s of budget left`);
  at("cancel").hidden = over && task.state !== "stopped"; at("resume").hidden = task.state !== "stopped";
  at("outcome").hidden = !(task.answer || task.error);
  at("answer").textContent = task.answer || task.error;
  review(task);
  agents(task);
  steps(task);
  messages(task);
  draw(task);
  return over;
}

function review(task) {
  const waits = task.state === "waiting";
  if (waits && at("review").hidden) { at("plan").value = task.plan.text; at("wrong").textContent = ""; }
  at("review").hidden = !waits;
}

function agents(task) {
  const lines = Object.entries(task.agents).flatMap(([name, tasks]) => tasks.map(text => element("li", name + ": " + text)));
  at("agents").replaceChildren(...(lines.length ? lines : [element("li", "nobody", "soft")]));
}

function steps(task) {
  const was = new Set([...at("steps").querySelectorAll("details[open]")].map(each => each.dataset.step));
  at("steps").replaceChildren(...(task.plan ? task.plan.steps : []).map(step => {
    const made = element("details"), after = step.after.length ? ", after " + step.after.join(", ") : "";
    made.dataset.step = step.id; made.open = was.has(step.id);
    made.append(element("summary", `${step.id} (${step.agent}), ${step.state}${after}: ${short(step.task, 160)}`), element("pre", step.result || step.task));
    return made;
  }));
}

function messages(task) {
  const log = at("messages"), low = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  for (const said of task.messages) {
    const item = element("li"), to = said.to ? " → " + said.to : "";
    item.append(element("time", said.at.toFixed(1) + " s"), element("span", `${said.sender}${to} [${said.kind}${said.outcome ? " " + said.outcome : ""}] ${said.text}`));
    log.append(item);
  }
  while (log.childElementCount > 400) log.firstElementChild.remove();
  if (low) log.scrollTop = log.scrollHeight;
}

async function draw(task) {
  at("when").hidden = at("timeline").hidden = !task.timeline.length;
  const now = JSON.stringify([task.id, task.plan && task.plan.steps.map(step => [step.id, step.state]), task.timeline.filter(span => span.over).length]);
  const running = task.timeline.some(span => !span.over);
  if (now === drawn && !running) return;
  const same = now === drawn;
  drawn = now;
  for (const name of same ? ["timeline"] : ["chart", "timeline"]) {
    const svg = await (await ask("/tasks/" + task.id + "/" + name + ".svg")).text();
    if (current !== task.id) return;
    const parsed = new DOMParser().parseFromString(svg.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"'), "image/svg+xml");
    at(name).replaceChildren(document.importNode(parsed.documentElement, true));
  }
}

function submitted(form, said, act) {
  at(form).addEventListener("submit", async event => {
    event.preventDefault();
    at(said).textContent = "";
    try { await act(); } catch (error) { at(said).textContent = error.message; }
  });
}

async function files() {
  const given = {};
  for (const file of at("files").files) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    let text = "";
    for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
    given[file.name] = btoa(text);
  }
  return given;
}

submitted("door", "link", () => { token = at("token").value.trim(); return open(); });
submitted("start", "refused", async () => {
  const made = await (await ask("/tasks", { task: at("what").value, agent: at("who").value, approve: at("ask").checked, files: await files() })).json();
  at("what").value = ""; at("files").value = "";
  location.hash = "#/" + made.id;
  at("task").focus();
});
submitted("review", "wrong", async () => { await ask("/tasks/" + current + "/plan", { plan: at("plan").value }); at("review").hidden = true; });
const tell = (path, body) => ask("/tasks/" + current + path, body).then(choose, error => { at("wrong").textContent = error.message; });
at("asis").addEventListener("click", () => tell("/plan", {}));
at("cancel").addEventListener("click", () => tell("/cancel", {}));
at("resume").addEventListener("click", () => tell("/resume", {}));
addEventListener("hashchange", choose);

const given = location.hash.match(/^#token=([A-Za-z0-9_-]+)$/);
if (given) { token = given[1]; history.replaceState(null, "", location.pathname); }
open().catch(error => { at("link").textContent = error.message; });
