// The graph as the page holds it: arrays over nodes and over edges, by number.

const COLORS = 12; // types that get a colour of their own; the rarer ones share one

/** Read the graph from the page. See `page.py` for the shape of the data. */
function readGraph(source) {
  const { title, types, relationTypes, entities, relations } = JSON.parse(source);
  const count = entities.length;
  const graph = {
    title,
    count,
    ids: entities.map((entity) => entity[0]),
    names: entities.map((entity) => entity[1]),
    type: Uint32Array.from(entities, (entity) => entity[2]),
    observations: entities.map((entity) => (entity[3] ?? []).map(readObservation)),
    properties: entities.map((entity) => entity[4] ?? []),
    edges: relations.map(([from, to, type, properties]) => ({
      from,
      to,
      type: relationTypes[type],
      properties: properties ?? [],
    })),
    degree: new Uint32Array(count),
    around: Array.from({ length: count }, () => []), // the numbers of each node's edges
  };
  graph.edges.forEach(({ from, to }, index) => {
    graph.around[from].push(index);
    graph.degree[from]++;
    if (from === to) return;
    graph.around[to].push(index);
    graph.degree[to]++;
  });
  graph.radius = Float32Array.from(graph.degree, (degree) => Math.min(24, 4.5 + 1.6 * Math.sqrt(degree)));
  graph.byId = new Map(graph.ids.map((id, node) => [id, node]));
  graph.types = countedTypes(types, graph.type);
  graph.links = bent(graph.edges);
  graph.x = new Float32Array(count);
  graph.y = new Float32Array(count);
  return graph;
}

function readObservation([text, type = "", timestamp = "", source = "", properties = []]) {
  return { text, type, timestamp, source, properties };
}

/** Return each type's name, number of nodes and colour; the commonest types have colours of their own. */
function countedTypes(names, typeOf) {
  const types = names.map((name) => ({ name, count: 0, color: "rest", hidden: false }));
  for (const type of typeOf) types[type].count++;
  const ranked = types.filter((type) => type.name !== "").sort((a, b) => b.count - a.count);
  ranked.slice(0, COLORS).forEach((type, rank) => (type.color = rank));
  return types;
}

/** Give each edge its bend, so that several between two nodes lie side by side; return each pair of nodes once. */
function bent(edges) {
  const pairs = new Map();
  for (const edge of edges) {
    const [one, other] = edge.from < edge.to ? [edge.from, edge.to] : [edge.to, edge.from];
    const key = `${one} ${other}`;
    if (!pairs.has(key)) pairs.set(key, []);
    pairs.get(key).push(edge);
  }
  const links = [];
  for (const together of pairs.values()) {
    together.forEach((edge, index) => {
      const side = index - (together.length - 1) / 2;
      edge.bend = (edge.from < edge.to ? side : -side) * Math.min(0.3, 1.6 / together.length);
      edge.loop = edge.from === edge.to ? index + 1 : 0;
    });
    const { from, to } = together[0];
    if (from !== to) links.push(from, to);
  }
  return Int32Array.from(links);
}

/** Lay the graph out; `told` gets the share that is done, then `finished` is called. */
function layOut(graph, told, finished) {
  const task = { count: graph.count, links: graph.links, radius: graph.radius, group: graph.type };
  const placed = (positions) => {
    for (let node = 0; node < graph.count; node++) {
      graph.x[node] = positions[2 * node];
      graph.y[node] = positions[2 * node + 1];
    }
    finished();
  };
  const here = () => setTimeout(() => placed(layout.run(task.count, task.links, task.radius, task.group, told)), 30);
  let worker;
  try {
    const code = ["library", "layout"].map((id) => document.getElementById(id).textContent);
    worker = new Worker(URL.createObjectURL(new Blob(code, { type: "text/javascript" })));
  } catch {
    here();
    return;
  }
  worker.onmessage = ({ data: { share, positions } }) => {
    if (positions === undefined) return told(share);
    worker.terminate();
    placed(positions);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    worker.terminate();
    here();
  };
  worker.postMessage(task);
}
