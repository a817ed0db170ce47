//! Structural channels against matrices computed from their definitions, and under relabelling.

use ppgn_graph::encode::{Encoder, Encoding, Kind, Structure};
use ppgn_graph::generate::generate;
use ppgn_graph::random::Stream;
use ppgn_graph::{Graph, Schema};

const STRUCTURE: Structure = Structure { degree: true, shortest_paths: 4, walks: 6 };

fn encoder(kind: Kind, graph: &Graph) -> Encoder {
    let encoding = Encoding { structure: STRUCTURE, ..Encoding::from(kind) };
    encoding.encoder(&Schema::of(std::slice::from_ref(graph)).unwrap()).unwrap()
}

/// The structural channels of pair (i, j), which are the last ones.
fn of_pair(rows: &[f64], n: usize, i: usize, j: usize) -> &[f64] {
    let (width, structural) = (rows.len() / (n * n), 1 + 4 + 6);
    &rows[(i * n + j) * width + width - structural..(i * n + j + 1) * width]
}

fn graphs() -> Vec<Graph> {
    let mut graphs = generate("gnp:n=11,p=0.2,count=6").unwrap().graphs().to_vec();
    graphs.extend(generate("gnp:n=9,p=0.6,count=3").unwrap().graphs().to_vec());
    // Directed, with a node that nothing leaves and a self-loop; and nodes without edges.
    graphs.push(Graph::directed(5, [(0, 1), (1, 2), (2, 0), (2, 3), (1, 1)]).unwrap());
    graphs.push(Graph::undirected(3, []).unwrap());
    graphs
}

#[test]
fn channels_are_what_their_definitions_say() {
    for graph in graphs() {
        let n = graph.nodes();
        let rows: Vec<f64> = encoder(Kind::Authors, &graph).rows(&graph).unwrap();
        let has = |i: usize, j: usize| graph.neighbours(i).contains(&(j as u32));
        let degree = |i: usize| (0..n).filter(|&j| has(i, j)).count();

        // Floyd and Warshall's shortest paths.
        let mut paths = vec![vec![usize::MAX / 2; n]; n];
        for (i, row) in paths.iter_mut().enumerate() {
            (0..n).filter(|&j| has(i, j)).for_each(|j| row[j] = 1);
            row[i] = 0;
        }
        for via in 0..n {
            for i in 0..n {
                for j in 0..n {
                    paths[i][j] = paths[i][j].min(paths[i][via] + paths[via][j]);
                }
            }
        }

        let mut walk: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(i == j)).collect()).collect();
        let mut powers = Vec::new();
        for _ in 0..6 {
            let step = |i: usize, j: usize| {
                (0..n).filter(|&u| has(i, u)).map(|u| walk[u][j] / degree(i) as f64).sum()
            };
            walk = (0..n).map(|i| (0..n).map(|j| step(i, j)).collect()).collect();
            powers.push(walk.clone());
        }

        for i in 0..n {
            for j in 0..n {
                let channels = of_pair(&rows, n, i, j);
                let log_degree = if i == j { (1.0 + degree(i) as f64).ln() } else { 0.0 };
                assert!((channels[0] - log_degree).abs() < 1e-15);
                for (d, channel) in channels[1..5].iter().enumerate() {
                    assert_eq!(*channel, f64::from(paths[i][j] == d + 1), "{i} {j}: {d}");
                }
                for (k, power) in powers.iter().enumerate() {
                    assert!((channels[5 + k] - power[i][j]).abs() < 1e-8, "{i} {j}: {k}");
                }
            }
        }
    }
}

/// Bits, not only values: the quotient merges pairs whose rows are equal.
#[test]
fn relabelling_moves_the_bits() {
    let mut random = Stream::new(5, "relabelling", &[]);
    for graph in graphs() {
        let n = graph.nodes();
        for kind in [Kind::Paper, Kind::Authors] {
            let encoder = encoder(kind, &graph);
            let permutation: Vec<u32> = random.permutation(n);
            let moved = graph.permute(&permutation).unwrap();
            let (rows, moved): (Vec<f64>, Vec<f64>) =
                (encoder.rows(&graph).unwrap(), encoder.rows(&moved).unwrap());
            for i in 0..n {
                for j in 0..n {
                    let (a, b) = (permutation[i] as usize, permutation[j] as usize);
                    let bits = |row: &[f64]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(of_pair(&rows, n, i, j)), bits(of_pair(&moved, n, a, b)));
                }
            }
        }
    }
}

/// In a vertex-transitive graph the rows of every node are the same collection.
#[test]
fn the_nodes_of_a_vertex_transitive_graph_have_the_same_rows() {
    for name in ["circulant:n=12,skips=1", "petersen", "rook:n=4", "paley:q=13", "hypercube:d=4"] {
        let graph = generate(name).unwrap().graphs()[0].clone();
        let n = graph.nodes();
        let rows: Vec<f32> = encoder(Kind::Paper, &graph).rows(&graph).unwrap();
        let width = rows.len() / (n * n);
        let of_node = |i: usize| {
            let of_pair =
                |j: usize| rows[(i * n + j) * width..][..width].iter().map(|x| x.to_bits()).collect();
            let mut pairs: Vec<Vec<u32>> = (0..n).map(of_pair).collect();
            pairs.sort();
            pairs
        };
        let first = of_node(0);
        assert!((1..n).all(|i| of_node(i) == first), "{name}");
    }
}
