// Where each node goes. With `repulsion.js` it runs in a worker, so that the page stays quick; where there is none, in
// the page itself.
const layout = (() => {
  const LINK = 32; // the shortest distance between related nodes of a large graph; small ones have room for labels
  const FEW = 60; // nodes that are laid out at once; more are first laid out in clusters
  const GAP = 26; // between the parts of a graph that isn't connected

  /**
   * Return the positions of nodes as x0, y0, x1, y1, ... `links` are pairs of nodes, each pair once; a node's `radius`
   * keeps others off; nodes without relations are kept together by their `group`.
   */
  function run(count, links, radius, group, report) {
    const positions = new Float32Array(2 * count);
    const parts = components(count, links, group);
    let done = 0;
    const circles = parts.map((part) => {
      const placed = part.links.length ? arrange(part, radius) : spiral(part, radius);
      done += part.nodes.length;
      report(done / count);
      return enclosed(part, placed, radius);
    });
    circles.sort((a, b) => b.r - a.r);
    d3.packSiblings(circles);
    const first = circles[0];
    for (const circle of circles) {
      circle.part.nodes.forEach((node, index) => {
        positions[2 * node] = circle.x - first.x + circle.placed[index].x;
        positions[2 * node + 1] = circle.y - first.y + circle.placed[index].y;
      });
    }
    return positions;
  }

  /** Return the connected parts, with links between a part's own numbers; lonely nodes of a group are one part. */
  function components(count, links, group) {
    const root = Int32Array.from({ length: count }, (_, node) => node);
    const find = (node) => {
      while (root[node] !== node) node = root[node] = root[root[node]];
      return node;
    };
    const related = new Uint8Array(count);
    for (let at = 0; at < links.length; at += 2) {
      related[links[at]] = related[links[at + 1]] = 1;
      root[find(links[at])] = find(links[at + 1]);
    }
    const parts = new Map();
    const own = new Int32Array(count);
    const partOf = (node) => (related[node] ? find(node) : `group ${group[node]}`);
    for (let node = 0; node < count; node++) {
      const key = partOf(node);
      if (!parts.has(key)) parts.set(key, { nodes: [], links: [] });
      own[node] = parts.get(key).nodes.push(node) - 1;
    }
    for (let at = 0; at < links.length; at += 2) {
      parts.get(partOf(links[at])).links.push([own[links[at]], own[links[at + 1]]]);
    }
    return [...parts.values()];
  }

  /** Place nodes in a spiral, like the seeds of a sunflower. */
  function spiral(part, radius) {
    const step = 2.1 * Math.max(...part.nodes.slice(0, 1000).map((node) => radius[node])) + 10;
    return part.nodes.map((_, index) => sunflower(index, step));
  }

  function sunflower(index, step) {
    const angle = index * Math.PI * (3 - Math.sqrt(5));
    const distance = step * Math.sqrt(index + 0.5);
    return { x: distance * Math.cos(angle), y: distance * Math.sin(angle) };
  }

  function arrange(part, radius) {
    const nodes = part.nodes.map((node) => ({ r: radius[node], weight: 1 }));
    return turned(settle(nodes, part.links));
  }

  /** Lay nodes out by their clusters, these by theirs, and so on: so the whole is right before the details are. */
  function settle(nodes, links) {
    const size = nodes.length;
    if (size <= FEW) {
      nodes.forEach((node, index) => Object.assign(node, sunflower(index, LINK / 2)));
      return forced(nodes, links, Math.min(300, 40 * size), 1);
    }
    const { clusterOf, clusters, between } = clustered(nodes, links);
    if (clusters.length > 0.9 * size) return forced(nodes, links, 300, 1);
    settle(clusters, between);
    const spread = Math.sqrt(size / clusters.length);
    const placed = new Int32Array(clusters.length);
    nodes.forEach((node, index) => {
      const cluster = clusters[clusterOf[index]];
      const around = sunflower(placed[clusterOf[index]]++, LINK / 3);
      node.x = spread * cluster.x + around.x;
      node.y = spread * cluster.y + around.y;
    });
    return forced(nodes, links, Math.max(40, Math.min(250, Math.round(250000 / size))), 0.5);
  }

  /** Let the nodes with most relations, one after another, gather those neighbours that no other has. */
  function clustered(nodes, links) {
    const beside = nodes.map(() => []);
    for (const [a, b] of links) {
      beside[a].push(b);
      beside[b].push(a);
    }
    const order = nodes.map((_, index) => index).sort((a, b) => beside[b].length - beside[a].length || a - b);
    const clusterOf = new Int32Array(nodes.length).fill(-1);
    const clusters = [];
    for (const centre of order) {
      if (clusterOf[centre] >= 0) continue;
      const members = [centre, ...beside[centre].filter((other) => clusterOf[other] < 0)];
      for (const member of members) clusterOf[member] = clusters.length;
      const weight = members.reduce((sum, member) => sum + nodes[member].weight, 0);
      clusters.push({ r: nodes[centre].r, weight });
    }
    const between = new Map();
    for (const [a, b] of links) {
      const [from, to] = [clusterOf[a], clusterOf[b]].sort((one, other) => one - other);
      if (from !== to) between.set(from * clusters.length + to, [from, to]);
    }
    return { clusterOf, clusters, between: [...between.values()] };
  }

  function forced(nodes, links, ticks, alpha) {
    const degree = new Int32Array(nodes.length);
    for (const [a, b] of links) {
      degree[a]++;
      degree[b]++;
    }
    const airy = 1 + 2.2 / (1 + (nodes.length / 40) ** 2);
    const distance = ({ source, target }) => {
      const fewer = Math.min(degree[source.index], degree[target.index]);
      return LINK * airy + source.r + target.r + 5 * Math.sqrt(fewer - 1);
    };
    const simulation = d3
      .forceSimulation(nodes)
      .stop()
      .alpha(alpha)
      .alphaDecay(1 - Math.pow(0.002 / alpha, 1 / ticks))
      .force("charge", repulsion(nodes))
      .force("link", d3.forceLink(links.map(([source, target]) => ({ source, target }))).distance(distance))
      .force("x", d3.forceX().strength(0.012))
      .force("y", d3.forceY().strength(0.018));
    const last = Math.max(12, Math.round(ticks / 10));
    simulation.tick(ticks - last);
    simulation.force("apart", d3.forceCollide((node) => node.r + 3).strength(0.8));
    simulation.tick(last);
    return nodes;
  }

  /** Turn a part so that its longest side lies: screens are wide. */
  function turned(nodes) {
    const mean = { x: average(nodes, (node) => node.x), y: average(nodes, (node) => node.y) };
    const xx = average(nodes, (node) => (node.x - mean.x) ** 2);
    const yy = average(nodes, (node) => (node.y - mean.y) ** 2);
    const xy = average(nodes, (node) => (node.x - mean.x) * (node.y - mean.y));
    const angle = -Math.atan2(2 * xy, xx - yy) / 2;
    const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
    return nodes.map(({ x, y }) => ({
      x: (x - mean.x) * cosine - (y - mean.y) * sine,
      y: (x - mean.x) * sine + (y - mean.y) * cosine,
    }));
  }

  function average(items, value) {
    return items.reduce((sum, item) => sum + value(item), 0) / items.length;
  }

  /** Return a part's circle, its nodes placed around the middle. */
  function enclosed(part, placed, radius) {
    const dots = placed.map(({ x, y }, index) => ({ x, y, r: radius[part.nodes[index]] }));
    const { x, y, r } = d3.packEnclose(dots);
    return { r: r + GAP, part, placed: placed.map((at) => ({ x: at.x - x, y: at.y - y })) };
  }

  return { run };
})();

if (typeof document === "undefined") {
  self.onmessage = ({ data: { count, links, radius, group } }) => {
    const positions = layout.run(count, links, radius, group, (share) => self.postMessage({ share }));
    self.postMessage({ positions }, [positions.buffer]);
  };
}
