// Search as one types: every word has to stand somewhere in an entity's name, type, texts or properties.

const MOST_RESULTS = 50;

/** Make the search over a graph: `find(query)` returns node numbers, the best first. */
function createSearch(graph) {
  let entries = null;

  function prepared() {
    entries ??= graph.names.map((name, node) => ({
      node,
      name: folded(name),
      type: folded(graph.types[graph.type[node]].name),
      rest: folded(
        [
          ...graph.observations[node].flatMap(({ type, text, source }) => [type, text, source]),
          ...graph.properties[node].flat(),
        ].join("\n"),
      ),
    }));
    return entries;
  }

  function find(query) {
    const whole = folded(query).trim();
    const words = whole.split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    const scored = [];
    for (const entry of prepared()) {
      const score = words.reduce((sum, word) => (sum < 0 ? sum : added(sum, worth(entry, word))), 0);
      if (score < 0 || graph.types[graph.type[entry.node]].hidden) continue;
      const exact = entry.name === whole ? 1000 : entry.name.startsWith(whole) ? 100 : 0;
      scored.push({ node: entry.node, score: score + exact });
    }
    scored.sort((a, b) => b.score - a.score || graph.degree[b.node] - graph.degree[a.node] || a.node - b.node);
    return scored.map(({ node }) => node);
  }

  function added(sum, worth) {
    return worth ? sum + worth : -1;
  }

  function worth({ name, type, rest }, word) {
    const at = name.indexOf(word);
    if (at >= 0) return at === 0 || !/[\p{L}\p{N}]/u.test(name[at - 1]) ? 30 : 20;
    if (type.includes(word)) return 8;
    return rest.includes(word) ? 4 : 0;
  }

  /** Return what of an entity's texts to show below its name: around the first word that its name doesn't have. */
  function excerpt(node, query) {
    const words = folded(query).split(/\s+/).filter(Boolean);
    const texts = [
      ...graph.observations[node].map(({ text }) => text),
      ...graph.properties[node].map((pair) => pair.join(": ")),
    ];
    const missing = words.find((word) => !folded(graph.names[node]).includes(word));
    if (missing === undefined) return null;
    const text = texts.find((one) => folded(one).includes(missing));
    if (text === undefined) return null;
    const start = Math.max(0, foldedWithPlaces(text).result.indexOf(missing) - 24);
    const cut = text
      .slice(foldedWithPlaces(text).places[start], foldedWithPlaces(text).places[start] + 160)
      .replace(/\s+/g, " ");
    return marked(start ? `…${cut}` : cut, words);
  }

  return { find, excerpt };
}

/** Return a text in pieces, the words of a query in it marked. */
function marked(text, words) {
  const { result, places } = foldedWithPlaces(text);
  const spans = words.map((word) => [result.indexOf(word), word.length]).filter(([at]) => at >= 0);
  spans.sort((a, b) => a[0] - b[0]);
  const pieces = document.createDocumentFragment();
  let at = 0;
  for (const [begin, length] of spans) {
    const [start, end] = [places[begin], places[begin + length]];
    if (start < at) continue;
    pieces.append(text.slice(at, start), element("mark", { textContent: text.slice(start, end) }));
    at = end;
  }
  pieces.append(text.slice(at));
  return pieces;
}

/** Connect the search field and its list. `chosen(node)` is called for a result, `found(nodes)` for each query. */
function connectSearch(graph, { chosen, found }) {
  const [input, list, status] = ["query", "results", "found"].map((id) => document.getElementById(id));
  const search = createSearch(graph);
  const busiest = Array.from({ length: graph.count }, (_, node) => node).sort(
    (a, b) => graph.degree[b] - graph.degree[a] || a - b,
  );
  let active = -1;

  function show() {
    const query = input.value;
    const asked = query.trim() !== "";
    const nodes = asked ? search.find(query) : busiest.filter((node) => !graph.types[graph.type[node]].hidden);
    active = -1;
    list.replaceChildren(...nodes.slice(0, MOST_RESULTS).map((node, index) => result(node, index, query)));
    status.textContent = !asked
      ? ""
      : nodes.length
        ? `${plural(nodes.length, "entity", "entities")} found${nodes.length > MOST_RESULTS ? `, the first ${MOST_RESULTS} listed` : ""}`
        : "Nothing found";
    open(nodes.length > 0);
    list.scrollTop = 0;
    if (asked && nodes.length) activate(0);
    found(asked ? nodes : null);
  }

  function result(node, index, query) {
    const type = graph.types[graph.type[node]];
    const words = folded(query).split(/\s+/).filter(Boolean);
    const name = element("span", { dir: "auto" }, marked(shortened(graph.names[node], 80) || "(blank)", words));
    const line = element(
      "span",
      { className: "name" },
      name,
      element("span", { className: "kind", textContent: type.name && `  ${type.name}` }),
    );
    const excerpt = search.excerpt(node, query);
    const item = element(
      "li",
      { id: `result-${index}`, role: "option" },
      element("span", { className: `dot type-${type.color}` }),
      line,
    );
    if (excerpt) item.append(element("span", { className: "snippet", dir: "auto" }, excerpt));
    item.setAttribute("aria-selected", "false");
    item.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
    item.addEventListener("click", () => choose(node));
    item.dataset.node = node;
    return item;
  }

  function choose(node) {
    open(false);
    chosen(node);
  }

  function open(is) {
    list.hidden = !is;
    input.setAttribute("aria-expanded", String(is));
    if (!is) input.removeAttribute("aria-activedescendant");
  }

  function activate(index) {
    const items = list.children;
    if (!items.length) return;
    items[active]?.setAttribute("aria-selected", "false");
    active = (index + items.length) % items.length;
    items[active].setAttribute("aria-selected", "true");
    items[active].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", items[active].id);
  }

  const keys = {
    ArrowDown: () => (list.hidden ? show() : activate(active + 1)),
    ArrowUp: () => (list.hidden ? show() : activate(active < 0 ? -1 : active - 1)),
    Enter: () => list.children[active] && !list.hidden && choose(Number(list.children[active].dataset.node)),
    Escape: () => clear(),
  };

  /** Empty the field; tell whether there was anything to empty. */
  function clear() {
    const had = input.value !== "" || !list.hidden;
    input.value = "";
    status.textContent = "";
    open(false);
    found(null);
    if (!had) input.blur();
    return had;
  }

  input.addEventListener("input", show);
  input.addEventListener("focus", () => graph.count && show());
  input.addEventListener("blur", () => open(false));
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.isComposing || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  return { focus: () => input.select(), clear, refresh: () => input.value.trim() && found(search.find(input.value)) };
}
