// What the page uses of D3; `refresh` bundles it into library.js.
export { forceCollide, forceLink, forceSimulation, forceX, forceY } from "d3-force";
export { packEnclose, packSiblings } from "d3-hierarchy";
export { select } from "d3-selection";
export { zoom, zoomIdentity } from "d3-zoom";
