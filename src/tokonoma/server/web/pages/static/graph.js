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

  // About as wide as the place that a label has: a Japanese character counts as two.
  const shorten = (text) => {
    let width = 0;
    for (let at = 0; at < text.length; at += 1) {
      width += text.charCodeAt(at) > 0x2e80 ? 2 : 1;
      if (width > 24) return `${text.slice(0, at)}…`;
    }
    return text;
  };
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
    name: "cose", animate: false, fit: false, randomize: false, numIter: count > 150 ? 250 : 1000,
    nodeRepulsion: () => 9000, idealEdgeLength: () => 70, edgeElasticity: () => 60, nodeOverlap: 12, gravity: 40,
    componentSpacing: 40, nodeDimensionsIncludeLabels: true,
  });

  // Records without links stand in rows below the others; the width follows the shape of the place.
  const arrange = (isFirst) => {
    const linked = graph.nodes().filter((node) => node.degree(false) > 0);
    const alone = graph.nodes().difference(linked);
    if (isFirst) linked.layout({ name: "circle", animate: false, fit: false }).run();
    linked.union(linked.connectedEdges()).layout(layout(linked.length)).run();
    const box = linked.empty() ? { x1: 0, y2: 0, w: 0, h: 0 } : linked.boundingBox();
    const shape = place.clientWidth / Math.max(1, place.clientHeight);
    const wide = Math.max(box.w, box.h * shape, Math.sqrt(alone.length * 170 * 60 * shape));
    const perRow = Math.max(1, Math.floor(wide / 170));
    const left = box.x1 + box.w / 2 - (Math.min(perRow, alone.length) - 1) * 85;
    alone.forEach((node, number) => {
      node.position({ x: left + (number % perRow) * 170, y: box.y2 + 60 + Math.floor(number / perRow) * 60 });
    });
    graph.fit(undefined, 24);
  };

  const style = () => {
    const byModule = colours();
    const ink = readColour(place);
    const line = readColour(place, "outlineColor");
    return [
      { selector: "node", style: { "background-color": (node) => byModule[node.data("module")] ?? ink, label: "data(label)", color: ink, "font-size": 13, "text-valign": "bottom", "text-margin-y": 3, width: 18, height: 18 } },
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
      kind.textContent = data.label;
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
    for (const button of line.querySelectorAll("[data-end]")) {
      button.onclick = () => {
        const field = document.getElementById(button.dataset.end);
        field.closest("details").open = true;
        field.value = node.data("id");
        field.focus();
      };
    }
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
    arrange(false);
    place.dataset.nodes = String(graph.nodes().length);
  };

  const draw = async () => {
    const data = await read(place.dataset.source);
    place.hidden = false;
    graph = cytoscape({ container: place, elements: toElements(data), style: style(), minZoom: 0.2, maxZoom: 3 });
    arrange(true);
    graph.on("tap", "node", (event) => { void expand(event.target); });
    place.setAttribute("aria-label", said);
    place.dataset.nodes = String(graph.nodes().length);
    place.graph = graph;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => graph.style(style()));
  };

  draw().catch(() => { place.hidden = true; });
})();
