// The rounds of a refinement, from the last colours and the parents of colours: what the Weisfeiler-Leman view shows.
//
// Colours are numbered in the order of their birth, so those of round r are the numbers below counts[r], and a later colour had
// in round r the colour of its nearest ancestor below that.

export class Colouring {
  constructor(answer) {
    Object.assign(this, answer);
    this.nodes = answer.graphs.map((g) => g.drawing.n);
  }

  /** For every last colour, the colour of round r that it came from. */
  ancestors(round) {
    const born = this.counts[Math.min(round, this.rounds)];
    const all = [];
    this.parents.forEach((parent, c) => all.push(c < born ? c : all[parent]));
    return all;
  }

  /** The colour of every tuple of a graph after round r. */
  at(graph, round) {
    const ancestors = this.ancestors(round);
    return this.colours[graph].map((c) => ancestors[c]);
  }

  /** How many tuples of each graph have each colour: [[colour, count in a, count in b]]. */
  histogram(round) {
    const counts = new Map();
    [0, 1].forEach((graph) => this.at(graph, round).forEach((c) => {
      if (!counts.has(c)) counts.set(c, [c, 0, 0]);
      counts.get(c)[graph + 1] += 1;
    }));
    return [...counts.values()].sort((x, y) => x[0] - y[0]);
  }

  /** The nodes of a tuple. */
  tuple(graph, index) {
    const n = this.nodes[graph];
    const nodes = [];
    for (let k = 0; k < this.k; k += 1) { nodes.unshift(index % n); index = Math.floor(index / n); }
    return nodes;
  }

  /**
   * What made the colour of a tuple in round r: its colour before, and its neighbours' as [colours, count], the most frequent
   * first. Neighbours are those of the test: adjacent nodes for 1-WL; for k-FWL, for every node w, the k tuples with w in the
   * place of one; for k-WL the same tuples, place by place.
   */
  reasons(graph, index, round) {
    if (round === 0) return null;
    const before = this.at(graph, round - 1);
    const counts = new Map();
    const see = (colours, position) => {
      const key = `${position}:${colours.join(",")}`;
      const known = counts.get(key);
      if (known) known.count += 1;
      else counts.set(key, {colours, position, count: 1});
    };
    const n = this.nodes[graph];
    if (this.k === 1) {
      const {edges, directed} = this.graphs[graph].drawing;
      for (const [u, v] of edges ?? []) {
        if (u === index) see([before[v]], directed ? "out" : "");
        if (v === index && u !== v) see([before[u]], directed ? "in" : "");
      }
    } else {
      const steps = Array.from({length: this.k}, (_, p) => n ** (this.k - 1 - p));
      const starts = steps.map((step) => index - (Math.floor(index / step) % n) * step);
      for (let w = 0; w < n; w += 1) {
        const colours = steps.map((step, p) => before[starts[p] + w * step]);
        if (this.folklore) see(colours, "");
        else colours.forEach((c, p) => see([c], `place ${p + 1}`));
      }
    }
    const all = [...counts.values()].sort((a, b) => b.count - a.count || (a.colours.join() < b.colours.join() ? -1 : 1));
    return {own: before[index], neighbours: all};
  }
}
