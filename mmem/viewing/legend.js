// The legend: each type with its colour and its number of entities; it filters.

/** Fill the legend; `changed()` is called when types were hidden or shown. */
function connectLegend(graph, changed) {
  const [legend, list, all] = ["legend", "types", "all-types"].map((id) => document.getElementById(id));
  const types = graph.types
    .filter((type) => type.count)
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
  const rows = types.map((type) => row(type));
  legend.hidden = types.length === 0;
  legend.open = innerWidth > 760;
  list.append(...rows.map(({ item }) => item));
  all.addEventListener("click", () => set(() => false));

  function row(type) {
    const name = element("span", { className: "name", dir: "auto", textContent: type.name || "without a type" });
    const count = element("span", { className: "muted", textContent: type.count.toLocaleString("en") });
    const toggle = element("button", { className: "toggle", type: "button", title: type.name }, dot(type), name, count);
    toggle.setAttribute("aria-pressed", "true");
    toggle.addEventListener("click", () => set((one) => (one === type ? !one.hidden : one.hidden)));
    const only = element("button", { className: "only", type: "button", textContent: "only" });
    only.setAttribute("aria-label", `Show only ${type.name || "entities without a type"}`);
    only.addEventListener("click", () => set((one) => one !== type));
    return { type, toggle, item: element("li", {}, toggle, types.length > 1 ? only : null) };
  }

  function set(hides) {
    for (const type of types) type.hidden = hides(type);
    for (const { type, toggle } of rows) toggle.setAttribute("aria-pressed", String(!type.hidden));
    all.hidden = !types.some((type) => type.hidden);
    changed();
  }

  return { reveal: (type) => type.hidden && set((one) => one !== type && one.hidden) };
}
