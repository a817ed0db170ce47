//! Places for the nodes of a small graph on paper: stress majorisation, the same picture every time.
//!
//! Distances on paper should be those in the graph. From a circle, every node is moved again and again to the mean of
//! where the others would have it, each weighted by the inverse square of its distance (Gansner, Koren and North,
//! *Graph drawing by stress majorization*, 2004). Components are laid out by themselves and set in rows. In the end nodes
//! that would overlap are pushed apart.

use ppgn_graph::Graph;
use std::collections::VecDeque;

/// Beyond this many nodes, nodes are placed on a circle: majorisation is quadratic, and such a drawing is unreadable.
const LARGEST: usize = 600;
const ITERATIONS: usize = 120;

/// A place in the unit square for every node; nodes are at least `apart` from each other where there is room for that.
/// O(iterations * n^2) for n up to 600, else O(n).
pub fn layout(graph: &Graph, apart: f64) -> Vec<[f64; 2]> {
    let n = graph.nodes();
    if n > LARGEST {
        return fit((0..n).map(|i| on_circle(i, n)).collect());
    }
    let components: Vec<(Vec<usize>, Vec<[f64; 2]>)> = components(graph)
        .into_iter()
        .map(|component| (component.clone(), majorise(graph, &component)))
        .collect();
    let sizes: Vec<[f64; 2]> = components.iter().map(|(_, inner)| size(inner)).collect();
    let mut places = vec![[0.0; 2]; n];
    for ((component, inner), corner) in components.iter().zip(shelves(&sizes)) {
        let (low, _) = bounds(inner);
        for (&u, p) in component.iter().zip(inner) {
            places[u] = [p[0] - low[0] + corner[0], p[1] - low[1] + corner[1]];
        }
    }
    separate(fit(places), apart)
}

/// The space between components.
const BETWEEN: f64 = 1.0;

/// Corners for boxes of these sizes: in rows about half as high in all as they are wide.
fn shelves(sizes: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let area: f64 = sizes.iter().map(|s| (s[0] + BETWEEN) * (s[1] + BETWEEN)).sum();
    let widest = sizes.iter().map(|s| s[0]).fold(0.0, f64::max);
    let limit = (1.5 * area.sqrt()).max(widest + BETWEEN);
    let (mut x, mut y, mut height): (f64, f64, f64) = (0.0, 0.0, 0.0);
    let corner = |size: &[f64; 2]| {
        if x > 0.0 && x + size[0] > limit {
            (x, y, height) = (0.0, y + height + BETWEEN, 0.0);
        }
        let corner = [x, y];
        x += size[0] + BETWEEN;
        height = height.max(size[1]);
        corner
    };
    sizes.iter().map(corner).collect()
}

fn size(places: &[[f64; 2]]) -> [f64; 2] {
    let (low, high) = bounds(places);
    [high[0] - low[0], high[1] - low[1]]
}

/// Rounds of pushing nodes apart.
const PUSHES: usize = 400;

/// Pushes nodes that are nearer than this apart, each by half of what is missing, within the unit square.
fn separate(mut places: Vec<[f64; 2]>, apart: f64) -> Vec<[f64; 2]> {
    let n = places.len();
    for _ in 0..PUSHES {
        let mut moved = false;
        for i in 0..n {
            for j in 0..i {
                let (dx, dy) = (places[i][0] - places[j][0], places[i][1] - places[j][1]);
                let now = dx.hypot(dy);
                if now >= apart {
                    continue;
                }
                moved = true;
                // Nodes in one place go into directions of their own.
                let angle = (i * n + j) as f64;
                let (ux, uy) = if now > 1e-9 { (dx / now, dy / now) } else { (angle.cos(), angle.sin()) };
                let half = (apart - now) / 2.0 + 1e-6;
                places[i] =
                    [(places[i][0] + half * ux).clamp(0.0, 1.0), (places[i][1] + half * uy).clamp(0.0, 1.0)];
                places[j] =
                    [(places[j][0] - half * ux).clamp(0.0, 1.0), (places[j][1] - half * uy).clamp(0.0, 1.0)];
            }
        }
        if !moved {
            break;
        }
    }
    places
}

fn on_circle(i: usize, n: usize) -> [f64; 2] {
    let angle = std::f64::consts::TAU * i as f64 / n as f64 - std::f64::consts::FRAC_PI_2;
    let radius = n as f64 / std::f64::consts::TAU;
    [radius * angle.cos(), radius * angle.sin()]
}

/// Both directions of every edge, so that distances do not depend on direction.
fn both_ways(graph: &Graph) -> Vec<Vec<usize>> {
    let mut lists = vec![Vec::new(); graph.nodes()];
    for (u, v, _) in graph.arc_list().filter(|(u, v, _)| u != v) {
        lists[u].push(v);
        lists[v].push(u);
    }
    lists
}

fn components(graph: &Graph) -> Vec<Vec<usize>> {
    let lists = both_ways(graph);
    let mut seen = vec![false; graph.nodes()];
    let mut all = Vec::new();
    for start in 0..graph.nodes() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut component = vec![start];
        let mut next = 0;
        while let Some(&u) = component.get(next) {
            next += 1;
            for &v in &lists[u] {
                if !std::mem::replace(&mut seen[v], true) {
                    component.push(v);
                }
            }
        }
        component.sort_unstable();
        all.push(component);
    }
    all
}

fn majorise(graph: &Graph, component: &[usize]) -> Vec<[f64; 2]> {
    let n = component.len();
    let lists = both_ways(graph);
    let mut number = vec![usize::MAX; graph.nodes()];
    component.iter().enumerate().for_each(|(i, &u)| number[u] = i);
    let mut distance = vec![0u32; n * n];
    for i in 0..n {
        let mut queue = VecDeque::from([i]);
        while let Some(a) = queue.pop_front() {
            for b in lists[component[a]].iter().map(|&v| number[v]) {
                if b != i && distance[i * n + b] == 0 {
                    distance[i * n + b] = distance[i * n + a] + 1;
                    queue.push_back(b);
                }
            }
        }
    }
    let mut places: Vec<[f64; 2]> = (0..n).map(|i| on_circle(i, n)).collect();
    for _ in 0..ITERATIONS {
        for i in 0..n {
            let (mut sum, mut weights) = ([0.0; 2], 0.0);
            for j in (0..n).filter(|&j| j != i) {
                let wanted = f64::from(distance[i * n + j]);
                let (dx, dy) = (places[i][0] - places[j][0], places[i][1] - places[j][1]);
                let now = (dx * dx + dy * dy).sqrt().max(1e-9);
                let weight = 1.0 / (wanted * wanted);
                sum[0] += weight * (places[j][0] + wanted * dx / now);
                sum[1] += weight * (places[j][1] + wanted * dy / now);
                weights += weight;
            }
            if weights > 0.0 {
                places[i] = [sum[0] / weights, sum[1] / weights];
            }
        }
    }
    places
}

fn bounds(places: &[[f64; 2]]) -> ([f64; 2], [f64; 2]) {
    let mut low = [f64::INFINITY; 2];
    let mut high = [f64::NEG_INFINITY; 2];
    for p in places {
        for axis in 0..2 {
            low[axis] = low[axis].min(p[axis]);
            high[axis] = high[axis].max(p[axis]);
        }
    }
    (low, high)
}

/// Moves and scales to the unit square, keeping proportions, centred.
fn fit(places: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    let (low, high) = bounds(&places);
    let size = (high[0] - low[0]).max(high[1] - low[1]).max(1e-9);
    let centre = |p: f64, axis: usize| 0.5 + (p - (low[axis] + high[axis]) / 2.0) / size;
    places.into_iter().map(|p| [centre(p[0], 0), centre(p[1], 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_nearer_than_strangers_and_all_fit() {
        let path = Graph::undirected(6, (0..5).map(|i| (i, i + 1))).unwrap();
        let p = layout(&path, 0.05);
        let d = |a: usize, b: usize| (p[a][0] - p[b][0]).hypot(p[a][1] - p[b][1]);
        assert!(d(0, 1) < d(0, 3) && d(0, 3) < d(0, 5));
        assert!(p.iter().flatten().all(|x| (0.0..=1.0).contains(x)));
        assert_eq!(p, layout(&path, 0.05));
    }

    #[test]
    fn components_do_not_overlap() {
        let two = Graph::undirected(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]).unwrap();
        let p = layout(&two, 0.05);
        let right = p[..3].iter().map(|q| q[0]).fold(f64::MIN, f64::max);
        let left = p[3..].iter().map(|q| q[0]).fold(f64::MAX, f64::min);
        assert!(right < left);
        assert_eq!(layout(&Graph::undirected(1, []).unwrap(), 0.1), [[0.5, 0.5]]);
        assert_eq!(layout(&Graph::undirected(1000, []).unwrap(), 0.1).len(), 1000);
    }

    #[test]
    fn sixty_nodes_do_not_overlap() {
        let (n, last) = (60usize, 60u32);
        let star = Graph::undirected(n, (1..last).map(|i| (0, i))).unwrap();
        let complete = Graph::undirected(n, (0..last).flat_map(|i| (0..i).map(move |j| (i, j)))).unwrap();
        let path = Graph::undirected(n, (1..last).map(|i| (i - 1, i))).unwrap();
        let empty = Graph::undirected(n, []).unwrap();
        let tree = Graph::undirected(n, (1..last).map(|i| ((i - 1) / 3, i))).unwrap();
        let bipartite = Graph::undirected(n, (0..30).flat_map(|i| (30..60).map(move |j| (i, j)))).unwrap();
        let grid = Graph::undirected(
            n,
            (0..last).flat_map(|i| {
                let right = (i % 10 < 9).then_some((i, i + 1));
                right.into_iter().chain((i + 10 < last).then_some((i, i + 10)))
            }),
        )
        .unwrap();
        // As far as the drawings of `ppgn wl refine --svg` have them.
        let apart = 0.0567;
        for graph in [star, complete, path, empty, tree, bipartite, grid] {
            let p = layout(&graph, apart);
            for i in 0..n {
                assert!(p[i].iter().all(|x| (0.0..=1.0).contains(x)));
                for j in 0..i {
                    let d = (p[i][0] - p[j][0]).hypot(p[i][1] - p[j][1]);
                    assert!(d > 0.95 * apart, "nodes {i} and {j} are {d} apart, not {apart}");
                }
            }
        }
    }
}
