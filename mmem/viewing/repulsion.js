// How nodes push each other away.
"use strict";

const CHARGE = 70; // how much nodes push each other away
const NEAR = 1.8; // the square of a cell's width over its distance, above which its nodes count one by one
const DEEPEST = 20; // cells within cells; nodes that are that near count as one

/**
 * Return a force by which nodes push each other away: Barnes and Hut's, far ones by the cell that they share. D3's own
 * does the same with an object for each cell, which takes several times as long.
 */
function repulsion(nodes) {
  const airy = 1 + 7 / (1 + (nodes.length / 40) ** 2);
  const charge = Float64Array.from(nodes, (node) => CHARGE * airy * Math.sqrt(node.weight * (node.r / 6)));
  const [x, y] = [new Float64Array(nodes.length), new Float64Array(nodes.length)];
  const most = 6 * nodes.length + 64;
  const inside = new Int32Array(4 * most); // 0: nothing, above: a cell, below: a node
  const [total, atX, atY, width] = [0, 0, 0, 0].map(() => new Float64Array(most));
  const stack = new Int32Array(4 * DEEPEST + 8);
  let cells = 0;

  function open(size) {
    inside.fill(0, 4 * cells, 4 * cells + 4);
    total[cells] = atX[cells] = atY[cells] = 0;
    width[cells] = size;
    return cells++;
  }

  function count(cell, node) {
    total[cell] += charge[node];
    atX[cell] += charge[node] * x[node];
    atY[cell] += charge[node] * y[node];
  }

  function insert(node, size, left, top) {
    let cell = 0;
    for (let depth = 0; ; depth++) {
      count(cell, node);
      size /= 2;
      const [east, south] = [x[node] >= left + size, y[node] >= top + size];
      const place = 4 * cell + (east ? 1 : 0) + (south ? 2 : 0);
      if (east) left += size;
      if (south) top += size;
      if (inside[place] === 0) {
        inside[place] = -1 - node;
        return;
      }
      if (inside[place] < 0) {
        if (depth >= DEEPEST - 1 || cells >= most) return;
        const other = -1 - inside[place];
        const inner = open(size);
        count(inner, other);
        inside[4 * inner + (x[other] >= left + size / 2 ? 1 : 0) + (y[other] >= top + size / 2 ? 2 : 0)] = -1 - other;
        inside[place] = inner;
      }
      cell = inside[place];
    }
  }

  return (alpha) => {
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    nodes.forEach((node, index) => {
      x[index] = node.x;
      y[index] = node.y;
      left = Math.min(left, node.x);
      right = Math.max(right, node.x);
      top = Math.min(top, node.y);
      bottom = Math.max(bottom, node.y);
    });
    const size = Math.max(right - left, bottom - top) + 1;
    cells = 0;
    open(size);
    for (let index = 0; index < nodes.length; index++) insert(index, size, left, top);
    nodes.forEach((node, index) => push(node, index, alpha));
  };

  function push(node, index, alpha) {
    let [vx, vy, height] = [0, 0, 1];
    stack[0] = 0;
    while (height) {
      const place = stack[--height];
      for (let part = 4 * place; part < 4 * place + 4; part++) {
        const what = inside[part];
        if (what === 0 || what === -1 - index) continue;
        const far = what > 0;
        const weight = far ? total[what] : charge[-1 - what];
        const dx = x[index] - (far ? atX[what] / weight : x[-1 - what]);
        const dy = y[index] - (far ? atY[what] / weight : y[-1 - what]);
        const square = dx * dx + dy * dy;
        if (far && width[what] * width[what] > NEAR * square) {
          stack[height++] = what;
          continue;
        }
        const strength = weight / Math.max(square, 4);
        vx += (dx || 0.01 * (index % 7) - 0.03) * strength;
        vy += (dy || 0.01 * (index % 5) - 0.02) * strength;
      }
    }
    node.vx += vx * alpha;
    node.vy += vy * alpha;
  }
}
