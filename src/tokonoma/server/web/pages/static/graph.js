// The picture of the graph. It asks for the same data as the table below it, and adds to both when a node is chosen.
(() => {
  "use strict";
  const place = document.getElementById("graph");
  if (place === null || typeof cytoscape === "undefined") return;
  const most = 500;
  const body = document.querySelector("#links tbody");
  const said = place.getAttribute("aria-label");
  const expandText = body.querySelector(".expand")?.textContent ?? "";
  const known = new Set();
  let graph = null;

  // Variables of the style sheet hold both themes: only a computed colour is one that a canvas can use.
  const readColour = (element, name = "color") => getComputedStyle(element)[name];
  const colours = () => {
    const found = {};
    for (const element of document.querySelectorAll(".legend [data-module]")) {
      found[element.dataset.module] = readColour(element);
    }
    return found;
  };

  const shorten = (text) => (text.length > 34 ? `${text.slice(0, 33)}…` : text);
  const nameEdge = (edge) => JSON.stringify([edge.source, edge.target, edge.kind]);

  const toElements = (data) => {
    const elements = [];
    for (const node of data.nodes) {
      if (known.has(node.id) || known.size >= most) continue;
      known.add(node.id);
      elements.push({ group: "nodes", data: { ...node, label: shorten(node.title) } });
    }
    for (const edge of data.edges) {
      const id = nameEdge(edge);
      if (known.has(edge.source) && known.has(edge.target) && (graph === null || graph.getElementById(id).empty())) {
        elements.push({ group: "edges", data: { ...edge, id } });
      }
    }
    return elements;
  };

  const layout = (count) => ({
    name: "cose", animate: false, fit: true, padding: 30, randomize: graph === null,
    numIter: count > 150 ? 250 : 1000, nodeRepulsion: () => 120000, idealEdgeLength: () => 60,
    edgeElasticity: () => 100, nodeOverlap: 20, gravity: 60, componentSpacing: 50, nodeDimensionsIncludeLabels: true,
  });

  const style = () => {
    const byModule = colours();
    const ink = readColour(place);
    const line = readColour(place, "outlineColor");
    return [
      { selector: "node", style: { "background-color": (node) => byModule[node.data("module")] ?? ink, label: "data(label)", color: ink, "font-size": 17, "text-valign": "bottom", "text-margin-y": 4, width: 26, height: 26 } },
      { selector: "node[!expanded]", style: { "background-opacity": 0.55 } },
      { selector: "node:selected", style: { "border-width": 3, "border-color": ink } },
      { selector: "edge", style: { "curve-style": "bezier", "line-color": line, "target-arrow-color": line, "target-arrow-shape": "triangle", width: 1.4, "arrow-scale": 0.8 } },
      { selector: 'edge[kind="near"]', style: { "line-style": "dashed", "target-arrow-shape": "none" } },
    ];
  };

  const link = (node, cell) => {
    const record = document.createElement("a");
    record.href = node.page;
    record.textContent = node.title;
    const start = document.createElement("a");
    start.href = node.graph;
    start.className = "expand";
    start.textContent = expandText;
    cell.append(record, " ", start);
  };

  const addRows = (elements) => {
    for (const { group, data } of elements) {
      if (group !== "edges") continue;
      const row = body.insertRow();
      link(graph.getElementById(data.source).data(), row.insertCell());
      const kind = document.createElement("b");
      kind.className = "tag";
      kind.textContent = data.kind;
      row.insertCell().append(kind);
      link(graph.getElementById(data.target).data(), row.insertCell());
    }
  };

  const read = async (address) => {
    const response = await fetch(address, { headers: { accept: "application/json" }, redirect: "error" });
    if (!response.ok) throw new Error(`${response.status}`);
    return response.json();
  };

  const choose = (node) => {
    const line = document.getElementById("chosen");
    line.hidden = false;
    line.querySelector("b").textContent = node.data("title");
    line.querySelector("[data-open]").href = node.data("page");
    line.querySelector("[data-from]").href = node.data("graph");
  };

  const expand = async (node) => {
    choose(node);
    if (node.data("expanded")) return;
    node.data("expanded", true);
    let data;
    try {
      data = await read(node.data("graph").replace("/admin/graph", "/admin/graph/data"));
    } catch {
      node.data("expanded", false);
      return;
    }
    const elements = toElements(data).map((each) =>
      each.group === "nodes" ? { ...each, position: { ...node.position() } } : each);
    graph.add(elements);
    addRows(elements);
    graph.layout(layout(known.size)).run();
    place.dataset.nodes = String(graph.nodes().length);
  };

  const draw = async () => {
    const data = await read(place.dataset.source);
    place.hidden = false;
    graph = cytoscape({ container: place, elements: toElements(data), style: style(), minZoom: 0.2, maxZoom: 3 });
    graph.layout({ ...layout(known.size), randomize: true }).run();
    graph.on("tap", "node", (event) => { void expand(event.target); });
    place.setAttribute("aria-label", said);
    place.dataset.nodes = String(graph.nodes().length);
    place.graph = graph;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => graph.style(style()));
  };

  draw().catch(() => { place.hidden = true; });
})();
