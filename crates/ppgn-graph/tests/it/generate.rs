//! Generators from the outside: isomorphism by petgraph, properties over parameters, fixed digests, the document.

use petgraph::algo::is_isomorphic_matching;
use petgraph::graph::UnGraph;
use ppgn_graph::generate::{generate, generators};
use ppgn_graph::{Dataset, Graph, Item};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn make(spec: &str) -> Dataset {
    generate(spec).unwrap_or_else(|e| panic!("{spec}: {e}"))
}

fn one(spec: &str) -> Graph {
    let dataset = make(spec);
    assert_eq!(dataset.len(), 1, "{spec}");
    dataset.graph(0).clone()
}

fn isomorphic(a: &Graph, b: &Graph) -> bool {
    let convert = |g: &Graph| {
        let mut copy = UnGraph::<i64, ()>::default();
        let labels = (0..g.nodes()).map(|u| g.node_labels(u).first().copied().unwrap_or(0));
        let nodes: Vec<_> = labels.map(|label| copy.add_node(label)).collect();
        for (u, v, _) in g.edge_list() {
            copy.add_edge(nodes[u], nodes[v], ());
        }
        copy
    };
    is_isomorphic_matching(&convert(a), &convert(b), |x, y| x == y, |_, _| true)
}

fn distances(g: &Graph, from: usize) -> Vec<Option<usize>> {
    let mut distances = vec![None; g.nodes()];
    distances[from] = Some(0);
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(u) = queue.pop_front() {
        for &v in g.neighbours(u) {
            if distances[v as usize].is_none() {
                distances[v as usize] = distances[u].map(|d| d + 1);
                queue.push_back(v as usize);
            }
        }
    }
    distances
}

/// The number of closed walks of each length below `lengths` from node 0.
fn closed_walks(g: &Graph, lengths: usize) -> Vec<u128> {
    let mut walks = vec![0u128; g.nodes()];
    walks[0] = 1;
    let mut closed = Vec::new();
    for _ in 0..lengths {
        closed.push(walks[0]);
        let mut next = vec![0; g.nodes()];
        for (u, v, _) in g.arc_list() {
            next[v] += walks[u];
        }
        walks = next;
    }
    closed
}

#[test]
fn csl_is_the_benchmark() {
    let csl = make("csl");
    assert_eq!(csl.len(), 150);
    let mut invariants = BTreeSet::new();
    for (i, g) in csl.graphs().iter().enumerate() {
        assert_eq!((g.nodes(), g.edges(), csl.class(i)), (41, 82, Some(i / 15)));
        assert!((0..41).all(|u| g.neighbours(u).len() == 4));
        assert!(distances(g, 0).iter().all(Option::is_some));
        // Vertex-transitive: any node's closed walks are all nodes'.
        invariants.insert((i / 15, closed_walks(g, 20)));
    }
    assert_eq!(invariants.len(), 10, "the copies of a class agree");
    let walks: BTreeSet<_> = invariants.iter().map(|(_, walks)| walks).collect();
    assert_eq!(walks.len(), 10, "classes differ");
    for i in 0..150 {
        assert!(csl.graphs()[..i].iter().all(|g| g != csl.graph(i)), "relabellings differ");
    }
    assert_ne!(make("csl:seed=1"), csl);
}

#[test]
fn petersen_has_girth_five() {
    let g = one("petersen");
    // The shortest cycle through an edge is a shortest way around it.
    let around = g.edge_list().map(|(u, v, _)| {
        let rest = g.edge_list().filter(|&(a, b, _)| (a, b) != (u, v)).map(|(a, b, _)| (a as u32, b as u32));
        distances(&Graph::undirected(10, rest).unwrap(), u)[v].unwrap() + 1
    });
    assert!(around.into_iter().all(|cycle| cycle == 5));
}

#[test]
fn well_known_isomorphisms() {
    let same = |a: &str, b: &str| isomorphic(&one(a), &one(b));
    assert!(same("hypercube:d=3", "prism:n=4"));
    assert!(same("hypercube:d=2", "cycles:n=4"));
    assert!(same("rook:n=3", "paley:q=9"));
    assert!(same("paley:q=5", "cycles:n=5"));
    assert!(same("bipartite:a=1,b=7", "star:n=7"));
    assert!(same("circulant:n=6,skips=1+3", "bipartite"));
    assert!(same("circulant:n=13,skips=1+3+4", "paley:q=13"));
    assert!(same("regular:n=6,d=5", "complete:n=6"));
    assert!(!same("rook:n=4", "shrikhande"));
    assert!(!same("prism:n=5", "petersen"));
}

#[test]
fn paley_graphs_are_self_complementary() {
    for q in [5, 9, 13, 17] {
        let g = one(&format!("paley:q={q}"));
        let others = (0..q).flat_map(|u| (0..u).map(move |v| (u, v)));
        let others = others.filter(|&(u, v)| g.arc(u, v).is_none()).map(|(u, v)| (u as u32, v as u32));
        assert!(isomorphic(&g, &Graph::undirected(q, others).unwrap()), "{q}");
    }
}

#[test]
fn cfi_pairs_differ_wherever_the_twist_is() {
    for (base, nodes) in [("c3", 3), ("c4", 4), ("k4", 4), ("k4-e", 4), ("k2_3", 5), ("p3", 3), ("s3", 4)] {
        for colours in [0, 1] {
            let spec = |twisted: u8, node| {
                one(&format!("cfi:base={base},twisted={twisted},node={node},colours={colours}"))
            };
            let twisted = spec(1, 0);
            assert!(!isomorphic(&spec(0, 0), &twisted), "{base}");
            assert!((1..nodes).all(|node| isomorphic(&spec(1, node), &twisted)), "{base}");
        }
        let pair = make(&format!("cfi:base={base}"));
        assert_eq!((pair.len(), pair.class(0), pair.class(1)), (2, Some(0), Some(1)));
        assert_eq!(pair.graph(0), &one(&format!("cfi:base={base},twisted=0")));
        assert_eq!(pair.graph(1), &one(&format!("cfi:base={base},twisted=1")));
    }
    // Untwisted over a cycle: two cycles; twisted: one that goes around twice.
    assert!(isomorphic(&one("cfi:base=c5,twisted=0"), &one("cycles:n=5,copies=2")));
    assert!(isomorphic(&one("cfi:base=c5,twisted=1"), &one("cycles:n=10")));
    for wrong in ["node=4", "node=-1", "twisted=2", "twisted=", "colours=2", "base=c99x"] {
        let error = generate(&format!("cfi:{wrong}")).unwrap_err();
        assert!(error.is_call() && error.to_string().starts_with("cfi: "), "{error}");
    }
}

#[test]
fn seeds_and_counts() {
    for name in ["csl", "tree", "gnp", "regular"] {
        let dataset = make(&format!("{name}:seed=5"));
        assert_eq!(dataset, make(&format!("{name}:seed=5")));
        assert_ne!(dataset, make(&format!("{name}:seed=6")));
        if name != "csl" {
            // The first graphs do not depend on how many follow.
            let many = make(&format!("{name}:seed=5,count=4"));
            assert_eq!((many.len(), many.graph(0)), (4, dataset.graph(0)));
            assert_ne!(many.graph(1), many.graph(0));
        }
    }
}

#[test]
fn large_graphs() {
    let g = one("tree:n=1000000");
    assert_eq!((g.nodes(), g.edges()), (1_000_000, 999_999));
    assert!(distances(&g, 0).iter().all(Option::is_some));
    let g = one("grid:rows=1000,columns=1000");
    assert_eq!((g.nodes(), g.edges()), (1_000_000, 1_998_000));
    let g = one("regular:n=100000,d=5");
    assert!((0..100_000).all(|u| g.neighbours(u).len() == 5) && g.self_loops() == 0);
    let g = one("gnp:n=300000,p=1e-5");
    assert!((g.edges() as f64 - 450_000.0).abs() < 5.0 * 450_000f64.sqrt(), "{}", g.edges());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn regular_graphs_are_simple_and_regular(n in 1usize..200, share in 0.0..1.0f64, seed: u64) {
        let d = (n as f64 * share) as usize;
        let d = if n * d % 2 == 1 { d - 1 } else { d };
        let g = one(&format!("regular:n={n},d={d},seed={seed}"));
        prop_assert!((0..n).all(|u| g.neighbours(u).len() == d));
        prop_assert_eq!((g.nodes(), g.self_loops(), g.edges()), (n, 0, n * d / 2));
        prop_assert!(g.to_directed().asymmetry().is_none());
    }

    #[test]
    fn trees_are_connected(n in 1usize..300, seed: u64) {
        let g = one(&format!("tree:n={n},seed={seed}"));
        prop_assert_eq!((g.nodes(), g.edges(), g.self_loops()), (n, n - 1, 0));
        prop_assert!(distances(&g, 0).iter().all(Option::is_some));
    }

    #[test]
    fn no_spec_panics(spec in "[a-z]{0,6}(:[a-z0-9=,+._-]{0,24})?", name in 0usize..23, rest in "[ -~é]{0,12}") {
        let _ = generate(&spec);
        let generator = &generators()[name];
        let _ = generate(&format!("{}:{rest}", generator.name));
        for parameter in generator.parameters.iter().filter(|_| rest.parse::<f64>().is_err()) {
            let error = generate(&format!("{}:{}={rest},", generator.name, parameter.name)).unwrap_err();
            prop_assert!(error.is_call(), "{}", error);
        }
    }

    #[test]
    fn no_number_panics(name in 0usize..23, parameter in 0usize..6, value in prop_oneof![0u64..16, any::<u64>()]) {
        let generator = &generators()[name];
        if let Some(parameter) = generator.parameters.get(parameter) {
            // Large values within the limits would only cost time.
            prop_assume!(!(16..1 << 28).contains(&value));
            if let Err(error) = generate(&format!("{}:{}={value}", generator.name, parameter.name)) {
                prop_assert!(error.is_call(), "{}", error);
            }
        }
    }
}

/// FNV-1a over everything that a generated dataset holds.
fn digest(dataset: &Dataset) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut feed = |number: u64| {
        for byte in number.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for (i, g) in dataset.graphs().iter().enumerate() {
        assert!(g.is_directed() || g.clone().to_directed().asymmetry().is_none());
        feed(g.is_directed().into());
        feed(dataset.class(i).map_or(u64::MAX, |c| c as u64));
        g.offsets().iter().chain(g.targets()).for_each(|&x| feed(x.into()));
        for u in 0..g.nodes() {
            g.node_labels(u).iter().for_each(|&label| feed(label as u64));
        }
        for known in [Item::Node, Item::Pair].map(|item| dataset.known(item, i)) {
            for (row, &place) in known.places().iter().enumerate() {
                feed(place);
                known.label(row).into_iter().for_each(|label| feed(label as u64));
                known.values(row).iter().for_each(|y| feed(y.to_bits()));
            }
        }
    }
    hash
}

#[test]
fn generators_never_change() {
    // A change here changes what every earlier result on these graphs was about.
    let found: Vec<String> =
        GOLDEN.iter().map(|(spec, _)| format!("{spec} {:016x}", digest(&make(spec)))).collect();
    let wanted: Vec<String> = GOLDEN.iter().map(|(spec, digest)| format!("{spec} {digest:016x}")).collect();
    assert_eq!(found, wanted, "{found:#?}");
    for generator in generators() {
        assert!(GOLDEN.iter().any(|(spec, _)| spec.split(':').next() == Some(generator.name)));
    }
    let rows = |spec: &str| {
        let g = one(spec);
        (0..g.nodes()).map(|u| g.neighbours(u).to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(rows("tree:n=6"), [&[1u32, 5][..], &[0, 4], &[3], &[2, 4], &[1, 3], &[0]]);
    assert_eq!(
        rows("gnp:n=6,p=0.5"),
        [&[1u32, 2, 3, 5][..], &[0, 2], &[0, 1, 4, 5], &[0], &[2, 5], &[0, 2, 4]]
    );
    assert_eq!(rows("regular:n=6,d=3"), [[3, 4, 5], [2, 3, 5], [1, 4, 5], [0, 1, 4], [0, 2, 3], [0, 1, 2]]);
    assert_eq!(make("csl").graph(0).neighbours(0), [1, 9, 16, 33]);
}

const GOLDEN: &[(&str, u64)] = &[
    ("csl", 0x03c4_6123_ddac_dbc4),
    ("csl:n=11,skips=2+3,copies=3,seed=7", 0xee9e_4aa2_313f_7944),
    ("cfi", 0xd669_1a5f_6e10_1424),
    ("cfi:base=k3_3,colours=1", 0x6333_b576_bdb6_c3e4),
    ("cfi:base=grid3x3,twisted=1,node=4", 0x172f_d39c_0f29_0b7d),
    ("figure1", 0x5145_2993_9db0_b5a4),
    ("figure1:variant=2", 0x60a8_ebfe_aac8_3844),
    ("rook", 0x542c_e647_c33f_1afd),
    ("shrikhande", 0x7ad1_0d5b_c2ef_707d),
    ("paley", 0x14fb_15b4_43ba_2233),
    ("paley:q=27", 0xee4f_13a4_2fcc_31cf),
    ("paley:q=49", 0xd1f9_fe82_7516_e5b3),
    ("petersen", 0x6c14_c6f3_1b74_1409),
    ("cycles", 0xf98a_e4cd_ddb8_a553),
    ("path", 0x1a34_7118_24da_7c7b),
    ("star", 0x66ff_c122_221c_d717),
    ("grid", 0x0c94_1b36_24fb_6675),
    ("complete", 0xda35_f7bb_ca78_cb19),
    ("bipartite", 0xb4a7_13d0_d6b2_22c1),
    ("circulant", 0x4662_96d1_073f_6dad),
    ("circulant:n=9,skips=1+3,directed=1", 0xea2c_4f27_df66_c61e),
    ("prism", 0xe23c_469b_fa1c_d441),
    ("hypercube", 0x9416_ec1e_398f_a6ad),
    ("tree:count=10", 0xdfd3_cad9_a5e5_803f),
    ("tree:n=10000,seed=3", 0xbd6e_123d_1d00_fbde),
    ("gnp:count=10", 0xe038_1dd3_ebf7_8127),
    ("gnp:n=3000,p=0.001,seed=3", 0x5f38_8109_3389_40a7),
    ("gnp:n=50,p=0.9,directed=1,loops=1", 0x05cc_71f7_908b_1dfb),
    ("regular:count=10", 0xb016_c531_31b2_b1d5),
    ("regular:n=1000,d=4,seed=3", 0xb4b2_e355_0ac1_0c18),
    ("regular:n=60,d=40", 0x5121_cf31_c9b5_6f1a),
    ("atlas", 0x72bd_60bd_d27d_d123),
    ("counting", 0x3e90_e8ac_4b91_9e5d),
    ("short-cycles", 0x94a1_a0f3_7744_18a7),
    ("short-cycles:n=20,p=0.5,count=3,seed=7", 0xdc76_0513_7a03_f536),
    ("distances", 0x742b_a0eb_349a_4e15),
    ("distances:n=20,p=0.1,count=3,seed=7", 0x8c9f_54f7_53e1_3cab),
];

/// `docs/generators.md` lists every generator with all parameters and defaults, and its examples work.
#[test]
fn the_document_is_true() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/generators.md");
    let text = std::fs::read_to_string(path).unwrap();
    for generator in generators() {
        let start = format!("\n- `{}`:", generator.name);
        let at = text.find(&start).unwrap_or_else(|| panic!("no item {start}"));
        let item = &text[at + 1..];
        let row = &item[..item.find("\n- ").into_iter().chain(item.find("\n\n")).min().unwrap_or(item.len())];
        let row = row.split_whitespace().collect::<Vec<_>>().join(" ");
        for parameter in generator.parameters {
            let setting = format!("`{}={}`", parameter.name, parameter.default);
            assert!(row.contains(&setting), "{row}\nlacks {setting}");
        }
        let examples: Vec<_> = row
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|w| w.starts_with(&format!("{}:", generator.name)))
            .collect();
        assert!(!examples.is_empty() || generator.parameters.is_empty(), "{row}\nhas no example");
        for example in examples {
            make(example);
        }
    }
}
