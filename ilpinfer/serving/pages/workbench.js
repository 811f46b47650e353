// The workbench: a text, its labellings without and under rules, and the rules, whose only form is their TOML text.
const $ = (id) => document.getElementById(id);
const OFF = "#- "; // begins each line of a rule that is switched off
const PADDING = 8, NARROW = 16; // pixels of a run beside its name, and for less than a letter or two
const MOST_CHOICES = 300, TYPING = 250, MOVING = 30; // labels of a token; milliseconds before a request
const TEXT = { tokens: ["Ada", "Lovelace", ".", "Notes", "on", "engines", "."] }; // examples where the service has none
const SCORES = { label_names: ["title", "O"], tokens: ["Notes", "on", "engines", "."], emissions: [[0, -1], [-1, 0], [0, -1], [-1, 0]], transitions: [[0, -0.5], [-0.5, 0]] };
const state = { about: null, tokens: [], record: null, known: new Map(), answer: null, selected: -1, hues: new Map(), dragging: false, split: false };

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") made.className = value;
    else if (name === "style") for (const [key, one] of Object.entries(value)) made.style.setProperty(key, one);
    else if (name.includes("-") || name === "role") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

const nats = (number) => (number === null ? "−∞" : number.toFixed(3).replace("-", "−"));
const milliseconds = (seconds) => (1000 * seconds).toFixed(seconds < 0.01 ? 1 : 0);
const plural = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

// ---- text ----

/** Tokens of the text, or the record that it is. */
function readText() {
  const text = $("text").value.trim();
  state.record = null;
  $("split-choice").hidden = text.startsWith("{");
  if (text.startsWith("{")) {
    state.record = JSON.parse(text);
    const rows = state.record.emissions ?? [null, ...(state.record.first ? [null] : []), ...(state.record.edges ?? [])];
    return state.record.tokens ?? rows.map((_, t) => `${t}`);
  }
  const pattern = $("split").value === "spaces" ? /\S+/gu : /@newline@|[\p{L}\p{M}\p{N}_]+|[^\s\p{L}\p{M}\p{N}_]/gu;
  return text.match(pattern) ?? [];
}

function textChanged() {
  let tokens;
  try {
    tokens = readText();
  } catch (error) {
    stop();
    $("result").classList.add("old");
    return say(`The text begins with {, but is not JSON: ${error.message}`, true);
  }
  const same = tokens.length === state.tokens.length && tokens.every((token, t) => token === state.tokens[t]);
  if (!same) {
    state.known.clear();
    state.selected = -1;
  }
  state.tokens = tokens;
  if (tokens.length) return schedule(TYPING);
  stop();
  state.answer = null;
  show();
  say("Write a text, or take an example.");
}

function takeExample() {
  const record = state.about.examples[$("examples").value];
  if (!record) return;
  const plain = Object.keys(record).every((key) => ["tokens", "id", "name"].includes(key));
  const spaces = plain && record.tokens.every((token) => /^\S+$/u.test(token));
  const parts = Object.entries(record).map(([key, value]) => ` ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  $("text").value = spaces ? record.tokens.join(" ") : `{\n${parts.join(",\n")}\n}`;
  $("split").value = "spaces";
  state.split = false;
  textChanged();
}

/** Split a text that comes from elsewhere as rules read it, unless its reader has chosen otherwise. */
function splitApart() {
  if (!state.split) $("split").value = "words";
}

// ---- requests ----

let timer = 0, current = null;

function stop() {
  clearTimeout(timer);
  current?.abort();
}

function schedule(delay = 0) {
  stop();
  timer = setTimeout(decode, delay);
}

/** The request for the text, with labels that are known; it asks why a token has its label if its position is given. */
function request(token = -1) {
  const asked = { ...(state.record ?? { tokens: state.tokens }), explain: token < 0 ? true : token };
  if (state.known.size) asked.given = { ...asked.given, ...Object.fromEntries(state.known) };
  if (token < 0 && $("shade").checked) asked.marginals = true;
  if ($("toml").value !== state.about.rules) asked.rules = $("toml").value;
  return asked;
}

async function post(asked, signal) {
  const response = await fetch("decode", { method: "POST", body: JSON.stringify(asked), signal });
  return [response.status, await response.json(), response.headers.get("Retry-After")];
}

async function decode() {
  const own = (current = new AbortController());
  if (!state.tokens.length) return;
  $("result").classList.add("old");
  try {
    const [status, answer, wait] = await post(request(), own.signal);
    if (own.signal.aborted) return;
    const ofRules = status !== 200 && answer.detail.startsWith("rules");
    ruleError(ofRules ? answer.detail : "");
    if (status === 200) {
      state.answer = answer;
      show();
    } else if (wait) {
      say(`${answer.detail}; trying again.`);
      timer = setTimeout(decode, 1000 * wait);
    } else {
      if (!ofRules) {
        state.answer = null;
        show();
      }
      say(ofRules ? "The rules have an error; this is the labelling before." : withoutPlace(answer.detail), !ofRules);
    }
  } catch (error) {
    if (error.name !== "AbortError") say("The service does not answer.", true);
  }
}

/** The message of an error without the part of the request that it is about, which the page has written. */
const withoutPlace = (message) => message.replace(/^body: /, "");

// ---- labellings ----

function say(text, bad = false) {
  $("summary").textContent = text;
  $("summary").classList.toggle("error", bad);
}

function show() {
  const { answer } = state;
  $("result").classList.toggle("old", false);
  $("forget").hidden = !state.known.size;
  for (const id of ["tokens", "legend", "broken"]) $(id).replaceChildren();
  $("shading").textContent = "";
  for (const each of document.querySelectorAll(".labelled")) each.hidden = !answer;
  if (answer) {
    const { fields } = answer.explanation;
    const named = [...new Set(fields)].filter((field) => field !== "O");
    state.fieldOf = new Map(answer.explanation.label_names.map((name, k) => [name, fields[k]]));
    state.hues = new Map(named.map((field, n) => [field, (205 + n * 137.508) % 360]));
    showTokens();
    showLegend();
    showBroken();
    say(summary());
    $("shading").textContent = shading();
  }
  showSwitches();
  select(state.selected, false);
}

function summary() {
  const { status, labels, score, gap, reason, explanation, notices = [] } = state.answer;
  const { viterbi } = explanation;
  const notice = notices.map((each) => ` Notice: ${each}.`).join("");
  if (!labels) return `${status}: ${reason || "no labelling was found in time"}.${notice}`;
  const proof = status === "optimal" ? "proved optimal" : `at most ${gap === null ? "∞" : nats(gap)} nats from the optimum`;
  const first = `Score ${nats(score)} nats, ${proof}, decoded in ${milliseconds(state.answer.seconds)} ms.`;
  const changed = labels.filter((label, t) => label !== viterbi.labels?.[t]).length;
  if (!changed) return `${first} Viterbi's labelling is the same.${notice}`;
  const lost = viterbi.score === null ? "breaks a hard rule" : `scores ${nats(score - viterbi.score)} nats less under the rules`;
  return `${first} Viterbi's labelling differs at ${plural(changed, "token")} and ${lost}.${notice}`;
}

function shading() {
  const { marginals } = state.answer;
  if (!marginals) return "";
  if (!marginals.labels) return `No probabilities: ${marginals.reason}.`;
  const { constrained, left_out: names, reason } = marginals;
  if (!names.length) return "The optimum is shaded by the probabilities of its labels under the rules.";
  if (!constrained) return `The optimum is shaded by the probabilities of the model without rules: ${reason}.`;
  const shown = names.slice(0, 3).map((name) => `“${name}”`).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");
  return `The optimum is shaded by the probabilities of its labels under the rules but for ${shown}: ${reason}.`;
}

/** A label of a row of labels, whose name comes from `nameRuns`. */
function bar(labels, t, p = 1) {
  const label = labels?.[t], field = state.fieldOf.get(label);
  const begins = t === 0 || state.fieldOf.get(labels?.[t - 1]) !== field || /^[BSU]-/.test(label);
  const next = labels?.[t + 1], ends = state.fieldOf.get(next) !== field || /^[BSU]-/.test(next);
  const hue = state.hues.get(field);
  const name = `label${hue === undefined ? " outside" : ""}${begins ? " begins" : ""}${ends ? " ends" : ""}`;
  return element("span", { class: name, style: { "--hue": hue ?? 0, "--p": p } }, label === undefined ? "–" : "\u00a0");
}

/** Name each run at its first token, and where a line begins, in the room that its labels have there. */
function nameRuns() {
  const { labels, explanation } = state.answer ?? {};
  if (!explanation) return;
  const made = [...$("tokens").children];
  const boxes = made.map((each) => [each.offsetTop, each.offsetLeft, each.offsetLeft + each.offsetWidth]);
  [explanation.viterbi.labels, labels].forEach((row, n) => {
    if (!row) return;
    const cells = made.map((each) => each.children[n + 1]);
    for (let t = 0, end; t < made.length; t = end) {
      for (end = t + 1; end < made.length && boxes[end][0] === boxes[t][0] && !cells[end].classList.contains("begins");) end++;
      const room = boxes[end - 1][2] - boxes[t][1] - PADDING;
      const name = room < NARROW ? [] : [element("span", { class: "name", style: { "max-width": `${room}px` } }, state.fieldOf.get(row[t]))];
      for (let at = t; at < end; at++) cells[at].replaceChildren("\u00a0", ...(at === t ? name : []));
    }
  });
}

const probability = (t, label) => state.answer.marginals?.labels?.[t]?.[state.answer.explanation.label_names.indexOf(label)];

function showTokens() {
  const { labels, explanation } = state.answer;
  const plain = explanation.viterbi.labels;
  state.tokens.forEach((token, t) => {
    const own = labels?.[t], before = plain?.[t], known = state.known.has(t);
    const name = `token${own === before ? "" : " differs"}${known ? " known" : ""}`;
    const p = probability(t, own);
    const spoken = `${t}: ${token}, Viterbi ${before ?? "none"}, optimum ${own ?? "none"}${known ? ", known" : ""}`;
    const made = element("button", { type: "button", class: name, title: p === undefined ? spoken : `${spoken}, probability ${p}`, tabIndex: -1, "aria-label": spoken },
      element("span", { class: "word" }, token === "@newline@" ? "↵" : token), bar(plain, t), bar(labels, t, p ?? 1));
    made.addEventListener("click", () => select(t === state.selected ? -1 : t, true));
    $("tokens").append(made);
  });
  nameRuns();
  const first = $("tokens").children[Math.max(state.selected, 0)];
  if (first) first.tabIndex = 0;
}

function showLegend() {
  const shown = [...state.hues, ["O", undefined]].filter(([field]) => [...state.fieldOf.values()].includes(field));
  $("legend").append(...shown.map(([field, hue]) =>
    element("li", {}, element("span", { class: `label${hue === undefined ? " outside" : ""}`, style: { "--hue": hue ?? 0 } }, field))));
}

function showBroken() {
  const { explanation, violations } = state.answer;
  const { viterbi, places, rules } = explanation;
  const broken = rules.filter(({ name }) => violations[name] || viterbi.violations[name]);
  if (!broken.length) return $("broken").append(element("p", { class: "note" }, "Neither labelling breaks a rule."));
  const cell = (counts, where, rule) => {
    const count = counts[rule.name] ?? 0;
    if (!count) return element("td", {}, "–");
    const cost = rule.penalty === null ? "hard" : `${nats(rule.penalty)} nats`;
    return element("td", {}, element("div", {}, `${count} × ${cost}`), ...(where[rule.name] ?? []).slice(0, 12).map(place));
  };
  const rows = broken.map((rule) => element("tr", {},
    element("th", { scope: "row" }, rule.name, rule.reason ? element("small", {}, rule.reason) : null),
    cell(viterbi.violations, viterbi.places, rule), cell(violations, places, rule)));
  const heads = ["rule", "Viterbi", "optimum"].map((name) => element("th", { scope: "col" }, name));
  $("broken").append(element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)));
}

/** The tokens of a violation, which are marked in the labelling while they are pointed at. */
function place(tokens) {
  if (!tokens.length) return element("span", { class: "note" }, "the whole sequence");
  const words = tokens.slice(0, 6).map((t) => state.tokens[t]).join(" ") + (tokens.length > 6 ? " …" : "");
  const made = element("button", { type: "button", class: "place", "aria-label": `tokens ${tokens.join(", ")}: ${words}` }, `“${words}”`);
  const mark = (on) => () => tokens.forEach((t) => $("tokens").children[t].classList.toggle("marked", on));
  for (const name of ["mouseenter", "focus"]) made.addEventListener(name, mark(true));
  for (const name of ["mouseleave", "blur"]) made.addEventListener(name, mark(false));
  made.addEventListener("click", () => focusToken(tokens[0]));
  return made;
}

function focusToken(t) {
  const all = [...$("tokens").children];
  if (!all[t]) return;
  all.forEach((each, n) => { each.tabIndex = n === t ? 0 : -1; });
  all[t].focus();
}

$("tokens").addEventListener("keydown", (event) => {
  const all = [...$("tokens").children], now = all.indexOf(document.activeElement), last = all.length - 1;
  const top = all[now]?.offsetTop;
  const line = (step) => {
    let t = now;
    while (all[t] && all[t].offsetTop === top) t += step;
    if (!all[t]) return now;
    const left = all[now].offsetLeft, at = all[t].offsetTop;
    const those = all.map((each, n) => [Math.abs(each.offsetLeft - left), n]).filter(([, n]) => all[n].offsetTop === at);
    return those.sort((a, b) => a[0] - b[0])[0][1];
  };
  const moves = { ArrowRight: () => Math.min(now + 1, last), ArrowLeft: () => Math.max(now - 1, 0), Home: () => 0, End: () => last, ArrowDown: () => line(1), ArrowUp: () => line(-1) };
  if (now < 0 || !moves[event.key]) return;
  event.preventDefault();
  focusToken(moves[event.key]());
});

// ---- one token ----

let asking = null;

/** Show why a token has its label, and the labels that it can have. */
async function select(t, moves) {
  asking?.abort();
  state.selected = t < state.tokens.length ? t : -1;
  [...$("tokens").children].forEach((each, n) => {
    each.classList.toggle("selected", n === state.selected);
    each.setAttribute("aria-pressed", n === state.selected);
  });
  const { answer } = state;
  $("token").hidden = state.selected < 0 || !answer;
  if ($("token").hidden) return;
  const label = answer.labels?.[t];
  $("token-title").textContent = label ? `Why is “${state.tokens[t]}” ${label}?` : `“${state.tokens[t]}”`;
  showChoices(t);
  if (moves) $("token").scrollIntoView({ block: "nearest" });
  if (!label) return void ($("why").textContent = "There is no labelling.");
  if (state.known.has(t)) return void ($("why").textContent = "Its label is known.");
  const own = (asking = new AbortController());
  try {
    const [status, other] = await post(request(t), own.signal);
    if (!own.signal.aborted) $("why").textContent = status === 200 ? why(other) : withoutPlace(other.detail);
  } catch (error) {
    if (error.name !== "AbortError") $("why").textContent = "The service does not answer.";
  }
}

/** The lines of the answer for a token, but for the first one, which names it, as sentences. */
function why(answer) {
  const words = answer.explanation?.change?.words ?? "";
  const lines = words.split("\n").slice(1).map((line) => line.trim());
  return lines.map((line) => `${line[0].toUpperCase()}${line.slice(1)}.`).join(" ");
}

function showChoices(t) {
  const names = state.answer.explanation.label_names.map((label) => ({ label, p: probability(t, label) }));
  names.sort((a, b) => (b.p ?? 0) - (a.p ?? 0));
  const held = $("choices").contains(document.activeElement) ? document.activeElement.dataset.label : null;
  $("choices").replaceChildren(...names.slice(0, MOST_CHOICES).map(({ label, p }) => {
    const field = state.fieldOf.get(label), hue = state.hues.get(field), on = state.known.get(t) === label;
    const made = element("button", { type: "button", class: "choice", "aria-pressed": on, "aria-label": `${label}${p === undefined ? "" : `, probability ${p.toFixed(3)}`}` },
      element("span", { class: `label${hue === undefined ? " outside" : ""}`, style: { "--hue": hue ?? 0 } }, label),
      element("span", { class: "number" }, p === undefined ? "" : p.toFixed(3)),
      element("span", { class: "bar", style: { width: `${100 * (p ?? 0)}%` } }));
    made.dataset.label = label;
    made.addEventListener("click", () => {
      if (on) state.known.delete(t);
      else state.known.set(t, label);
      schedule();
    });
    return made;
  }));
  [...$("choices").children].find((each) => each.dataset.label === held)?.focus();
}

// ---- rules ----

/** The tables [[rule]] and [[feature]] of a text with their lines, and whether they are switched off. */
function tables(text) {
  const found = [];
  text.split("\n").forEach((line, n) => {
    const off = line.startsWith(OFF), bare = off ? line.slice(OFF.length) : line;
    const head = /^\s*\[\[?\s*([\w."' -]+?)\s*\]\]?\s*(#.*)?$/.exec(bare);
    if (head) found.push({ kind: head[1], off, first: n, end: n + 1, lines: [bare] });
    else if (found.length && bare.trim()) {
      const last = found.at(-1);
      while (last.end < n) last.lines.push("") && last.end++;
      last.lines.push(bare);
      last.end = n + 1;
    }
  });
  return found.filter(({ kind }) => kind === "rule" || kind === "feature");
}

/** The text with other lines in place of those of a table. */
function replaced(table, lines, off) {
  const all = $("toml").value.split("\n");
  all.splice(table.first, table.end - table.first, ...lines.map((line) => (off ? OFF + line : line)));
  $("toml").value = all.join("\n");
  showSwitches();
  schedule(MOVING);
}

const value = (table, key) => table.lines.map((line) => new RegExp(`^\\s*${key}\\s*=\\s*(.*?)\\s*(?:#.*)?$`).exec(line)?.[1]).find(Boolean);
const unquoted = (text) => text?.replace(/^(["'])(.*)\1$/, "$2");

/** The lines of a table with another penalty or weight; a comment behind it stays. */
function withPrice(table, key, price) {
  const form = new RegExp(`^(\\s*${key}\\s*=\\s*)[^#]*?(\\s*(?:#.*)?)$`);
  const lines = table.lines.map((line) => line.replace(form, (_, before, after) => before + price + after));
  return lines.some((line) => form.test(line)) ? lines : [...lines, `${key} = ${price}`];
}

function showSwitches() {
  if (state.dragging) return; // the slider that is dragged has to stay
  const found = tables($("toml").value), { answer } = state;
  const named = answer?.explanation.rules.map(({ name }) => name) ?? [];
  const on = found.filter(({ kind, off }) => kind === "rule" && !off);
  const matching = $("rule-error").hidden && on.length === named.length;
  $("unlisted").hidden = found.length > 0 || !/rule|feature/.test($("toml").value);
  const held = $("switches").contains(document.activeElement) ? document.activeElement.id : null;
  const items = found.map((table, n) => {
    const name = matching && on.includes(table) ? named[on.indexOf(table)] : titled(table);
    const counts = matching && on.includes(table) && answer ? `${answer.explanation.viterbi.violations[name] ?? 0} → ${answer.violations[name] ?? 0} broken` : "";
    const box = element("input", { type: "checkbox", checked: !table.off, id: `on-${n}`, disabled: $("toml").readOnly });
    box.addEventListener("change", () => replaced(table, table.lines, !table.off));
    return element("li", { class: table.off ? "off" : "" },
      element("label", {}, box, element("span", { class: "name" }, name)), element("span", { class: "count" }, counts),
      table.off ? null : prices(table, name, n));
  });
  $("switches").replaceChildren(...items);
  $("switches").hidden = !items.length;
  if (held) $(held)?.focus();
}

const titled = (table) => unquoted(value(table, "name") ?? value(table, "template") ?? value(table, "logic") ?? value(table, "linear")) ?? table.kind;

/** A slider and a number for the penalty of a rule, or the weight of a feature. */
function prices(table, name, n) {
  const feature = table.kind === "feature", key = feature ? "weight" : "penalty";
  const given = value(table, key), number = Number(given), hard = !feature && !(number > 0);
  const most = Math.max(10, 2 ** Math.ceil(Math.log2(Math.abs(number) || 1)));
  const shared = { disabled: hard || $("toml").readOnly, value: hard ? "" : number };
  const range = { type: "range", min: feature ? -most : 0.05, max: most, step: 0.05 };
  const slider = element("input", { ...range, ...shared, id: `slider-${n}`, "aria-label": `${key} of ${name}` });
  const field = element("input", { type: "number", step: "any", ...shared, value: hard ? "" : String(+number.toFixed(4)), id: `number-${n}`, "aria-label": `${key} of ${name} in nats` });
  const move = (text) => Number.isFinite(Number(text)) && (feature || Number(text) > 0) && replaced(table, withPrice(table, key, Number(text)), false);
  slider.addEventListener("change", () => { state.dragging = false; showSwitches(); });
  slider.addEventListener("input", () => {
    state.dragging = true;
    field.value = String(Math.max(feature ? -most : 0.05, Math.round(slider.value * 20) / 20));
    const all = $("toml").value.split("\n"), lines = withPrice(table, key, Number(field.value));
    all.splice(table.first, table.end - table.first, ...lines);
    table.lines = lines;
    table.end = table.first + lines.length;
    $("toml").value = all.join("\n");
    schedule(MOVING);
  });
  field.addEventListener("change", () => move(field.value));
  const box = element("input", { type: "checkbox", checked: hard, id: `hard-${n}`, disabled: $("toml").readOnly });
  box.addEventListener("change", () => replaced(table, withPrice(table, key, box.checked ? '"hard"' : 1), false));
  return element("div", { class: "price" }, slider, field, "nats", feature ? null : element("label", {}, box, "hard"));
}

/** Show an error of the rules at its place; an empty message shows none. */
function ruleError(message) {
  const box = $("rule-error"), found = /\(line (\d+), column (\d+)\)/.exec(message);
  box.hidden = !message;
  box.replaceChildren(message);
  $("toml").setAttribute("aria-invalid", message !== "");
  $("toml").style.setProperty("--line", found ? found[1] - 1 : -10);
  if (!found) return;
  const go = element("button", { type: "button" }, `Go to line ${found[1]}`);
  go.addEventListener("click", () => {
    const lines = $("toml").value.split("\n"), before = lines.slice(0, found[1] - 1).join("\n").length + (found[1] > 1);
    $("toml").focus();
    $("toml").setSelectionRange(before + Number(found[2]) - 1, before + lines[found[1] - 1].length);
    $("toml").scrollTop = 20 * (found[1] - 5);
  });
  box.append(go);
}

function download() {
  const address = URL.createObjectURL(new Blob([$("toml").value], { type: "application/toml" }));
  element("a", { href: address, download: "rules.toml" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// ---- start ----

function start() {
  const about = (state.about = JSON.parse($("about").textContent));
  if (!about.examples.length) about.examples.push(about.model ? TEXT : SCORES);
  const named = about.examples.map((record, n) => {
    const words = (record.tokens ?? []).slice(0, 5).join(" ");
    return element("option", { value: n }, record.id ?? record.name ?? (words ? `${words} …` : `scores ${n + 1}`));
  });
  $("examples").append(...named);
  $("untold").hidden = about.rules !== null;
  $("toml").value = about.rules ??= "";
  $("toml").readOnly = !about.rule_text;
  $("fixed").hidden = about.rule_text > 0;
  for (const name of ["paste", "drop"]) $("text").addEventListener(name, splitApart);
  $("text").addEventListener("input", (event) => {
    if (/^insertFrom(Paste|Drop|Yank)/.test(event.inputType) || !state.tokens.length) splitApart();
    textChanged();
  });
  $("split").addEventListener("input", () => { state.split = true; textChanged(); });
  new ResizeObserver(nameRuns).observe($("tokens"));
  $("examples").addEventListener("change", takeExample);
  $("shade").addEventListener("change", () => schedule());
  $("forget").addEventListener("click", () => { state.known.clear(); schedule(); });
  $("toml").addEventListener("input", () => { showSwitches(); schedule(TYPING); });
  $("reset").addEventListener("click", () => { $("toml").value = about.rules; showSwitches(); schedule(); });
  $("download").addEventListener("click", download);
  showSwitches();
  takeExample();
}

start();
