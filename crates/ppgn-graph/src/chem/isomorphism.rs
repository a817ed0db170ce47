//! Whether two small labelled graphs are the same but for the numbers of their nodes: exactly, by colours and trial.
//!
//! Colours are hashes of what surrounds a node, refined until they stay. They never differ for nodes that an isomorphism
//! maps to each other, so they only save trials: where colours leave a choice, one node of the first graph is set apart and every node of its colour in
//! the second is tried, and when all colours differ the map that they give is checked, label by label and bond by bond.
//! Two hashes that coincide therefore cost time and never a wrong answer.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Trials per pair of graphs. Those with equal digests are nearly always isomorphic, and then hardly a trial fails; the
/// limit is for contrived graphs, which could take forever.
const TRIALS: usize = 20_000;

/// Up to this many nodes colours start from the distances to all others.
const MOST_DISTANCES: usize = 1024;

/// There were more trials than [`TRIALS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManyTrials;

/// A graph with labels of nodes and edges, and the colours of its nodes.
#[derive(Debug, Clone)]
pub(crate) struct Labelled {
    nodes: Vec<[i32; 4]>,
    /// The neighbours of every node, ascending, with the labels of the edges.
    links: Vec<Vec<(u32, u8)>>,
    colours: Vec<u64>,
    digest: u64,
}

impl Labelled {
    /// The graph with these labels of nodes, and these neighbours of each with the labels of the edges. O(n²) for small graphs.
    pub(crate) fn new(nodes: Vec<[i32; 4]>, mut links: Vec<Vec<(u32, u8)>>) -> Self {
        links.iter_mut().for_each(|list| list.sort_unstable());
        let mut graph = Labelled { nodes, links, colours: Vec::new(), digest: 0 };
        let colours = (0..graph.nodes.len()).map(|u| graph.first_colour(u)).collect();
        graph.colours = graph.refined(colours);
        graph.digest = hash(&sorted(&graph.colours));
        graph
    }

    /// Equal for isomorphic graphs, and hardly ever for others.
    pub(crate) fn digest(&self) -> u64 {
        self.digest
    }

    /// Whether a bijection of the nodes keeps all labels and edges. Exact, unless it takes too many trials; each is
    /// O(r m log m) with r rounds of refinement.
    pub(crate) fn is_isomorphic(&self, other: &Labelled) -> Result<bool, TooManyTrials> {
        let mut trials = TRIALS;
        self.search(other, &self.colours, &other.colours, &mut trials)
    }

    fn search(
        &self,
        other: &Labelled,
        mine: &[u64],
        theirs: &[u64],
        trials: &mut usize,
    ) -> Result<bool, TooManyTrials> {
        let (a, b) = (by_colour(mine), by_colour(theirs));
        if !a.iter().map(|x| x.0).eq(b.iter().map(|x| x.0)) {
            return Ok(false);
        }
        // The smallest set of nodes that share a colour.
        let mut choice = 0..0;
        let mut start = 0;
        for cell in a.chunk_by(|x, y| x.0 == y.0) {
            if cell.len() > 1 && (choice.is_empty() || cell.len() < choice.len()) {
                choice = start..start + cell.len();
            }
            start += cell.len();
        }
        if choice.is_empty() {
            return Ok(self.is_mapped(other, &a, &b));
        }
        let mine = self.refined(apart(mine, a[choice.start].1));
        for &(_, w) in &b[choice] {
            *trials = trials.checked_sub(1).ok_or(TooManyTrials)?;
            if self.search(other, &mine, &other.refined(apart(theirs, w)), trials)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the map from the nodes of one list to those at the same places of the other keeps labels and edges.
    fn is_mapped(&self, other: &Labelled, from: &[(u64, usize)], to: &[(u64, usize)]) -> bool {
        let mut image = vec![0u32; from.len()];
        from.iter().zip(to).for_each(|(&(_, u), &(_, v))| image[u] = v as u32);
        (0..image.len()).all(|u| {
            let v = image[u] as usize;
            let mut links: Vec<(u32, u8)> =
                self.links[u].iter().map(|&(w, label)| (image[w as usize], label)).collect();
            links.sort_unstable();
            self.nodes[u] == other.nodes[v] && links == other.links[v]
        })
    }

    /// A node's label, with the labels of all nodes by distance.
    fn first_colour(&self, u: usize) -> u64 {
        let n = self.nodes.len();
        if n > MOST_DISTANCES {
            return hash(&self.nodes[u]);
        }
        let mut distances = vec![u32::MAX; n];
        distances[u] = 0;
        let mut queue = vec![u];
        let mut next = 0;
        while let Some(&v) = queue.get(next) {
            next += 1;
            for &(w, _) in &self.links[v] {
                if distances[w as usize] == u32::MAX {
                    distances[w as usize] = distances[v] + 1;
                    queue.push(w as usize);
                }
            }
        }
        let mut around: Vec<(u32, [i32; 4])> =
            distances.into_iter().zip(self.nodes.iter().copied()).collect();
        around.sort_unstable();
        hash(&(self.nodes[u], around))
    }

    /// Colours that tell nodes apart by their neighbours' colours, again and again until there are no more of them.
    fn refined(&self, mut colours: Vec<u64>) -> Vec<u64> {
        let mut count = distinct(&colours);
        let mut around = Vec::new();
        while count < colours.len() {
            let next: Vec<u64> = (0..colours.len())
                .map(|u| {
                    around.clear();
                    around.extend(self.links[u].iter().map(|&(v, label)| (label, colours[v as usize])));
                    around.sort_unstable();
                    hash(&(colours[u], &around))
                })
                .collect();
            let more = distinct(&next);
            colours = next;
            if more <= count {
                break;
            }
            count = more;
        }
        colours
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn distinct(colours: &[u64]) -> usize {
    colours.iter().collect::<HashSet<_>>().len()
}

fn sorted(colours: &[u64]) -> Vec<u64> {
    let mut colours = colours.to_vec();
    colours.sort_unstable();
    colours
}

/// Nodes with their colours, sorted.
fn by_colour(colours: &[u64]) -> Vec<(u64, usize)> {
    let mut list: Vec<(u64, usize)> = colours.iter().copied().zip(0..).collect();
    list.sort_unstable();
    list
}

/// The colours with one of its own for a node.
fn apart(colours: &[u64], node: usize) -> Vec<u64> {
    let mut colours = colours.to_vec();
    colours[node] = hash(&(colours[node], "apart"));
    colours
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn graph(n: usize, edges: &[(usize, usize)], order: &[usize]) -> Labelled {
        let mut links = vec![Vec::new(); n];
        for &(u, v) in edges {
            links[order[u]].push((order[v] as u32, 1));
            links[order[v]].push((order[u] as u32, 1));
        }
        Labelled::new(vec![[0; 4]; n], links)
    }

    /// Every order of the nodes is tried.
    fn naive(n: usize, a: &[(usize, usize)], b: &[(usize, usize)]) -> bool {
        fn orders(rest: &mut Vec<usize>, at: usize, test: &mut impl FnMut(&[usize]) -> bool) -> bool {
            if at == rest.len() {
                return test(rest);
            }
            (at..rest.len()).any(|i| {
                rest.swap(at, i);
                let found = orders(rest, at + 1, test);
                rest.swap(at, i);
                found
            })
        }
        let ends = |(u, v): (usize, usize)| (u.min(v), u.max(v));
        let wanted: HashSet<(usize, usize)> = b.iter().copied().map(ends).collect();
        let mut same =
            |p: &[usize]| a.len() == b.len() && a.iter().all(|&(u, v)| wanted.contains(&ends((p[u], p[v]))));
        orders(&mut (0..n).collect(), 0, &mut same)
    }

    #[test]
    fn agrees_with_all_permutations() {
        let n = 6;
        let mut stream = Stream::new(0, "test/isomorphism", &[]);
        let mut equal = 0;
        let pairs: Vec<(usize, usize)> = (0..n).flat_map(|u| (0..u).map(move |v| (v, u))).collect();
        for round in 0..300 {
            let mut draw = || {
                let mut edges = pairs.clone();
                stream.shuffle(&mut edges);
                edges.truncate(4 + round % 8);
                edges
            };
            let (a, b) = (draw(), draw());
            let mut order: Vec<usize> = (0..n).collect();
            stream.shuffle(&mut order);
            let found = graph(n, &a, &(0..n).collect::<Vec<_>>()).is_isomorphic(&graph(n, &b, &order));
            assert_eq!(found, Ok(naive(n, &a, &b)), "{a:?} {b:?}");
            equal += usize::from(found == Ok(true));
        }
        assert!((20..280).contains(&equal), "{equal}");
    }

    #[test]
    fn what_colours_and_distances_do_not_distinguish() {
        // The 4x4 rook's graph and Shrikhande's are strongly regular with the same parameters.
        let cell = |x: i32, y: i32| (x.rem_euclid(4) * 4 + y.rem_euclid(4)) as usize;
        let all = || (0..4).flat_map(|x| (0..4).map(move |y| (x, y)));
        let rook: Vec<_> = all()
            .flat_map(|(x, y)| [(1, 0), (0, 1)].map(|(i, j)| (cell(x, y), cell(x + i, y + j))))
            .chain(all().filter(|c| c.0 < 2).map(|(x, y)| (cell(x, y), cell(x + 2, y))))
            .chain(all().filter(|c| c.1 < 2).map(|(x, y)| (cell(x, y), cell(x, y + 2))))
            .collect();
        let shrikhande: Vec<_> = all()
            .flat_map(|(x, y)| [(1, 0), (0, 1), (1, 1)].map(|(i, j)| (cell(x, y), cell(x + i, y + j))))
            .collect();
        let straight: Vec<usize> = (0..16).collect();
        let mut order = straight.clone();
        Stream::new(1, "test/isomorphism", &[]).shuffle(&mut order);
        let [a, b, c] = [(&rook, &straight), (&shrikhande, &straight), (&shrikhande, &order)]
            .map(|(edges, order)| graph(16, edges, order));
        assert_eq!(a.digest(), b.digest());
        assert_eq!((a.is_isomorphic(&b), b.is_isomorphic(&c)), (Ok(false), Ok(true)));
        assert_eq!(a.is_isomorphic(&graph(0, &[], &[])), Ok(false));
    }

    #[test]
    fn many_symmetries_need_few_trials() {
        // A path of 60 nodes with a triangle at each: 2^60 symmetries and more.
        let edges = |last: usize| -> Vec<(usize, usize)> {
            (0..60)
                .flat_map(|i| {
                    let (a, b, c) = (60 + 3 * i, 61 + 3 * i, 62 + 3 * i);
                    let along = (i, if i < 59 { i + 1 } else { last });
                    [along, (i, a), (a, b), (b, c), (c, a)]
                })
                .collect()
        };
        let straight: Vec<usize> = (0..240).collect();
        let mut order = straight.clone();
        Stream::new(2, "test/isomorphism", &[]).shuffle(&mut order);
        let ring = graph(240, &edges(0), &straight);
        assert_eq!(ring.is_isomorphic(&graph(240, &edges(0), &order)), Ok(true));
        assert_eq!(ring.is_isomorphic(&graph(240, &edges(30), &order)), Ok(false));
    }
}
