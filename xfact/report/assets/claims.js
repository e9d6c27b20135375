// The claim browser; it follows page.js in one script.

const PAGE = 50;
let data; // columns, as xfact/report/page.py describes them
let searched; // the claims' text for searching
let disagree; // where the models' predictions differ
let firstWithId; // id -> its first claim
let matches = []; // the claims that pass the filters
let start = 0; // the first of them that is shown
let opened = -1; // the claim in the dialog

/** Text as it is compared in a search: without case, width or the dot that lower-casing İ leaves. */
function folded(text) {
  return text.normalize("NFKC").toLowerCase().replaceAll("i\u0307", "i");
}

async function readData() {
  const packed = atob(byId("data").textContent);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

/** An element with text of the data, in its language and its direction. */
function textOf(name, claim, text, attributes = {}) {
  return element(name, { dir: "auto", lang: data.languages[data.language[claim]][0], ...attributes }, text);
}

function plain(text) {
  return element("span", { dir: "auto" }, text);
}

const labelOf = (code) => (code < 0 ? "-" : data.labels[code]);

/** A predicted label with a mark for right or wrong. */
function verdict(claim, code) {
  if (code < 0) return element("span", {}, "-");
  if (data.gold[claim] < 0) return plain(labelOf(code));
  const [name, sign] = code === data.gold[claim] ? ["right", "✓"] : ["wrong", "✗"];
  const mark = element("span", { class: "mark", role: "img", "aria-label": name }, sign);
  return element("span", { class: name }, mark, " ", plain(labelOf(code)));
}

function addressOf(claim) {
  const id = data.id[claim];
  const split = firstWithId.get(id) === claim ? "" : `&split=${encodeURIComponent(data.splits[data.split[claim]])}`;
  return `#claim=${encodeURIComponent(id)}${split}`;
}

/** The claim that the address names: its position, -1 for one that is not here, null if it names none. */
function addressed() {
  const found = /^#claim=([^&]*)(?:&split=(.*))?$/.exec(location.hash);
  if (!found) return null;
  try {
    const [id, split] = found.slice(1).map((text) => text && decodeURIComponent(text));
    if (split === undefined) return firstWithId.get(id) ?? -1;
    return data.id.findIndex((other, i) => other === id && data.splits[data.split[i]] === split);
  } catch {
    return -1; // no well-formed address
  }
}

function filter() {
  const fields = byId("filters").elements;
  const pred = data.predictions[fields.model.value]?.pred ?? [];
  const columns = { split: data.split, language: data.language, site: data.site, gold: data.gold, pred };
  const chosen = Object.entries(columns)
    .filter(([name]) => fields[name].value !== "")
    .map(([name, column]) => [column, Number(fields[name].value)]);
  const parts = folded(fields.words.value).split(/\s+/).filter(Boolean);
  matches = [];
  for (let i = 0; i < data.id.length; i++) {
    if (!chosen.every(([column, code]) => column[i] === code)) continue;
    if (fields.wrong.checked && !(pred[i] >= 0 && data.gold[i] >= 0 && pred[i] !== data.gold[i])) continue;
    if (fields.disagree.checked && !disagree[i]) continue;
    if (!parts.every((part) => searched[i].includes(part))) continue;
    matches.push(i);
  }
  start = 0;
  showList();
}

function showList() {
  const count = matches.length.toLocaleString("en");
  const all = data.id.length.toLocaleString("en");
  byId("count").textContent = `${count} of ${all} claims` + (matches.length ? "" : ": none passes these filters.");
  const shown = matches.slice(start, start + PAGE);
  byId("list").replaceChildren(...shown.map(listItem));
  byId("list").start = start + 1;
  byId("pages").hidden = matches.length <= PAGE;
  const [first, last] = [start + 1, start + shown.length].map((number) => number.toLocaleString("en"));
  byId("shown").textContent = `${first}–${last} of ${count}`;
  byId("back").disabled = start === 0;
  byId("on").disabled = start + PAGE >= matches.length;
}

function listItem(claim) {
  const model = byId("filters").elements.model.value;
  const pred = data.predictions[model]?.pred[claim] ?? -1;
  const link = textOf("a", claim, data.claim[claim] || "(empty claim)", { href: addressOf(claim), class: "claim" });
  return element(
    "li",
    {},
    element("div", {}, link, element("p", { class: "meta" }, ...parted([...place(claim), data.id[claim]]))),
    element("span", { class: "gold" }, element("span", { class: "name" }, "gold "), plain(labelOf(data.gold[claim]))),
    element("span", { class: "pred" }, element("span", { class: "name" }, "predicted "), verdict(claim, pred)),
  );
}

function place(claim) {
  return [data.splits[data.split[claim]], data.languages[data.language[claim]][1], data.sites[data.site[claim]]];
}

/** Texts with a dot between, empty ones left out. */
function parted(texts) {
  return texts.filter(Boolean).flatMap((text, i) => (i ? [" · ", plain(text)] : [plain(text)]));
}

// One claim

function showClaim(claim) {
  opened = claim;
  const [split, language, site] = place(claim);
  const facts = [["Split", split], ["Language", language], ["Source", site], ["Claimed by", data.claimant[claim]]];
  facts.push(["Claim date", data.date[claim]], ["Id", data.id[claim]], ["Gold", labelOf(data.gold[claim])]);
  byId("opened-text").replaceChildren(
    textOf("p", claim, data.claim[claim] || "(empty claim)", { id: "opened-claim", class: "claim" }),
    factList(facts),
    ...(data.models.length ? [element("h3", {}, "Probabilities"), probabilities(claim)] : []),
    element("h3", {}, "Evidence"),
    evidence(claim),
  );
  const position = matches.indexOf(claim);
  byId("before").disabled = position <= 0;
  byId("after").disabled = position < 0 || position === matches.length - 1;
  if (!byId("opened").open) byId("opened").showModal();
  byId("opened").scrollTop = 0;
}

function factList(facts) {
  const rows = facts.filter(([, value]) => value);
  return element("dl", { class: "facts" }, ...rows.map(([what, value]) =>
    element("div", {}, element("dt", {}, what), element("dd", { dir: "auto" }, value))));
}

/** A bar for a number in 1/1000 and the number; a dash for none. */
function bar(value) {
  const filled = element("span", { class: "filled" });
  filled.style.width = `${Math.max(value, 0) / 10}%`;
  const number = element("span", { class: "value" }, value < 0 ? "-" : (value / 1000).toFixed(3));
  return element("span", { class: "measure" }, element("span", { class: "bar" }, filled), number);
}

/** A row for each label, a column for each model; the gold label's row is marked, and so is what each predicts. */
function probabilities(claim) {
  const count = data.labels.length;
  const head = data.predictions.map(({ pred }, model) =>
    element("th", { scope: "col" }, plain(data.models[model]), element("br"), verdict(claim, pred[claim])));
  const rows = data.labels.map((label, code) => {
    const isGold = code === data.gold[claim];
    const tag = isGold ? element("span", { class: "tag" }, "gold") : null;
    const name = element("th", { scope: "row" }, plain(label), " ", tag);
    const cells = data.predictions.map(({ pred, p, votes }) => {
      const seeds = votes ? votes[claim * count + code] : 0;
      const said = seeds > 0 ? element("span", { class: "votes" }, `${seeds} ${seeds === 1 ? "seed" : "seeds"}`) : null;
      return element("td", pred[claim] === code ? { class: "chosen" } : {}, bar(p[claim * count + code]), said);
    });
    return element("tr", isGold ? { class: "gold" } : {}, name, ...cells);
  });
  const table = element("table", { class: "probabilities" },
    element("thead", {}, element("tr", {}, element("td"), ...head)), element("tbody", {}, ...rows));
  table.style.setProperty("--models", data.models.length);
  return element("div", { class: "wide" }, table);
}

/** The snippets with their links and the attention that models pay to each, an empty one too. */
function evidence(claim) {
  const attentive = [...data.models.keys()].filter((model) => {
    const { pred, attention } = data.predictions[model];
    return attention && pred[claim] >= 0 && attention[claim * data.snippet_count] >= 0;
  });
  const items = data.snippets[claim].map((text, i) => {
    const link = data.links[claim][i] ?? "";
    if (!text && !link && !attentive.length) return null;
    const bars = attentive.map((model) => {
      const { attention } = data.predictions[model];
      const drawn = bar(attention[claim * data.snippet_count + i]);
      return element("div", { class: "attention" }, plain(data.models[model]), drawn);
    });
    const snippet = text ? textOf("p", claim, text) : element("p", { class: "note" }, "(no snippet)");
    const source = link ? element("p", { class: "link" }, address(link)) : null;
    return element("li", { value: i + 1 }, snippet, source, ...bars);
  });
  if (items.every((item) => item === null)) return element("p", { class: "note" }, "This claim has no snippets.");
  const note = "The bars are the attention that each model pays to a snippet; they sum to one. A model that had other snippets has none here.";
  return element(
    "div",
    {},
    attentive.length ? element("p", { class: "note" }, note) : null,
    element("ol", { class: "snippets" }, ...items),
  );
}

/** A link for a web address; other addresses are text. */
function address(link) {
  if (!/^https?:\/\//i.test(link)) return plain(link);
  return element("a", { href: link, rel: "noopener noreferrer nofollow", target: "_blank", dir: "auto" }, link);
}

/** Filter as a cell of a confusion matrix asks: #claims?split=...&model=...&gold=...&pred=... */
function followCell() {
  const asked = new URLSearchParams(location.hash.slice("#claims?".length));
  const lists = { split: data.splits, model: data.models, gold: data.labels, pred: data.labels };
  byId("filters").reset();
  for (const [name, texts] of Object.entries(lists)) {
    byId("filters").elements[name].value = texts.indexOf(asked.get(name));
  }
  setTimeout(() => byId("claims").scrollIntoView()); // resetting the form filters a moment later
}

/** Open the claim of the address, or close the one that is open. */
function followAddress() {
  if (location.hash.startsWith("#claims?")) return followCell();
  const claim = addressed();
  if (claim >= 0 && claim !== null) return showClaim(claim);
  byId("opened").close();
  if (claim === null) return;
  byId("count").textContent = "There is no claim of this address here.";
  byId("claims").scrollIntoView();
}

function step(by) {
  location.replace(addressOf(matches[matches.indexOf(opened) + by]));
}

function fill(name, texts, all) {
  const options = texts.map((text, code) => element("option", { value: code }, text || "(not given)"));
  byId("filters").elements[name].replaceChildren(...(all ? [element("option", { value: "" }, "all")] : []), ...options);
}

function turn(by) {
  start += by;
  showList();
  byId("count").scrollIntoView();
}

/** What is worked out once from the claims. */
function prepare() {
  searched = data.claim.map(folded);
  firstWithId = new Map(data.id.map((id, i) => [id, i]).reverse());
  disagree = data.id.map((_, i) => {
    const given = data.predictions.map(({ pred }) => pred[i]).filter((code) => code >= 0);
    return given.some((code) => code !== given[0]);
  });
}

function fillFilters() {
  fill("split", data.splits, true);
  fill("language", data.languages.map(([code, name]) => (name === code ? code : `${name} (${code})`)), true);
  fill("site", data.sites, true);
  fill("gold", data.labels, true);
  fill("model", data.models, false);
  fill("pred", data.labels, true);
  for (const field of document.querySelectorAll(".models")) field.hidden = data.models.length === 0;
  byId("several").hidden = data.models.length < 2;
}

function listen() {
  const form = byId("filters");
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter)); // the fields are emptied after the event
  byId("back").addEventListener("click", () => turn(-PAGE));
  byId("on").addEventListener("click", () => turn(PAGE));
  byId("before").addEventListener("click", () => step(-1));
  byId("after").addEventListener("click", () => step(1));
  byId("close").addEventListener("click", () => byId("opened").close());
  byId("opened").addEventListener("close", () => {
    if (!byId("opened").open && addressed() !== null) history.replaceState(null, "", "#claims");
  });
  addEventListener("hashchange", followAddress);
}

async function startClaims() {
  try {
    data = await readData();
  } catch (error) {
    byId("loading").textContent = `The claims cannot be read here (${error}); a browser of 2023 or later can.`;
    return;
  }
  byId("data").remove();
  prepare();
  fillFilters();
  listen();
  byId("loading").remove();
  byId("browser").hidden = false;
  filter();
  followAddress();
  performance.mark("claims shown");
}

startClaims();
