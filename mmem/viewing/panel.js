// The panel on the right: all that is known of one entity.

const MOST_ITEMS = 60; // of a list, until one asks for the rest

/** Make what shows an entity; `chosen(node)` is called for a relation that is followed, `closed()` for the cross. */
function createPanel(graph, { chosen, closed }) {
  const panel = document.getElementById("panel");

  function show(node) {
    if (node < 0) {
      panel.hidden = true;
      return;
    }
    panel.replaceChildren(...content(node).filter(Boolean));
    panel.hidden = false;
    panel.scrollTop = 0;
  }

  function content(node) {
    const type = graph.types[graph.type[node]];
    const close = element(
      "button",
      { className: "close", type: "button", title: "Close (Esc)" },
      icon("M4 4l8 8M12 4l-8 8"),
    );
    close.setAttribute("aria-label", "Close");
    close.addEventListener("click", closed);
    const kind = element(
      "p",
      { className: "of-type" },
      dot(type),
      element("bdi", { textContent: type.name || "without a type" }),
      `#${graph.ids[node]}`,
    );
    const edges = graph.around[node].map((index) => graph.edges[index]);
    return [
      close,
      textIn("h2", "", graph.names[node] || "(blank)"),
      kind,
      ...section("Properties", [properties(graph.properties[node])].filter(Boolean), "div"),
      ...section(
        plural(graph.observations[node].length, "observation"),
        graph.observations[node].map(observation),
        "ul",
        "observations",
      ),
      ...section(
        "Relations",
        edges.filter((edge) => edge.from === node).map((edge) => relation(edge, edge.to, "→")),
        "ul",
        "relations",
      ),
      ...section(
        "Relations from others",
        edges.filter((edge) => edge.from !== node).map((edge) => relation(edge, edge.from, "←")),
        "ul",
        "relations",
      ),
    ];
  }

  /** Return a heading and a list; of a long one the beginning, and a button that brings the rest. */
  function section(title, items, tag, className = "") {
    if (!items.length) return title.startsWith("0") ? [element("h3", { textContent: "No observations" })] : [];
    const list = element(
      tag,
      { className },
      ...items.slice(0, MOST_ITEMS).map((make) => (make instanceof Node ? make : make())),
    );
    const rest = items.slice(MOST_ITEMS);
    if (!rest.length) return [element("h3", { textContent: title }), list];
    const more = element("button", {
      className: "quiet",
      type: "button",
      textContent: `Show ${rest.length.toLocaleString("en")} more`,
    });
    more.addEventListener("click", () => {
      const added = rest.map((make) => make());
      list.append(...added);
      more.remove();
      added[0].querySelector("button")?.focus();
    });
    return [element("h3", { textContent: title }), list, more];
  }

  function observation({ text, type, timestamp, source, properties: pairs }) {
    return () => {
      const whence = [source, timestamp && moment(timestamp)].filter(Boolean);
      return element(
        "li",
        {},
        type ? textIn("p", "kind", type) : null,
        textIn("p", "text", text),
        whence.length
          ? element(
              "p",
              { className: "whence", title: timestamp },
              ...whence.flatMap((one, index) => [index ? " · " : "", element("bdi", { textContent: one })]),
            )
          : null,
        properties(pairs),
      );
    };
  }

  function relation(edge, other, arrow) {
    return () => {
      const type = graph.types[graph.type[other]];
      const words = element(
        "span",
        {},
        element("span", { className: "muted" }, `${arrow} `, element("bdi", { textContent: edge.type }), " "),
        element("bdi", { textContent: graph.names[other] || "(blank)" }),
      );
      const link = element("button", { type: "button" }, dot(type), words);
      link.addEventListener("click", () => chosen(other));
      return element("li", {}, link, properties(edge.properties));
    };
  }

  function properties(pairs) {
    if (!pairs.length) return null;
    return element(
      "dl",
      { className: "properties" },
      ...pairs.flatMap(([key, value]) => [textIn("dt", "", key), textIn("dd", "", value)]),
    );
  }

  return { show, focus: () => panel.focus() };
}

function dot(type) {
  return element("span", { className: `dot type-${type.color}` });
}

function icon(path) {
  const space = "http://www.w3.org/2000/svg";
  const drawn = document.createElementNS(space, "svg");
  drawn.setAttribute("class", "icon");
  drawn.setAttribute("viewBox", "0 0 16 16");
  drawn.setAttribute("aria-hidden", "true");
  drawn.append(document.createElementNS(space, "path"));
  drawn.firstChild.setAttribute("d", path);
  return drawn;
}
