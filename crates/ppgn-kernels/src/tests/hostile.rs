//! Arguments that no network makes, from safe code: every one ends in an assertion, and none reads or writes beyond its
//! slice. (The address sanitizer sees that, see `benches/asan.sh`; without it these tests see the panic.)

use crate::{
    Activation, Block, Branch, Buffer, ColourMatrix, Count, Equivariant, Example, Keep, Layer, Linears, Mlp,
    Pairs, Pools, Product, Square, Workspace, add_outer, multiply, multiply_transposed, pool_max, pool_sum,
    pool_sum_backward,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn panics(what: &str, call: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(call)).is_err(), "{what} was accepted");
}

/// Zeros for weights: 2 channels everywhere.
const WEIGHTS: [f32; 256] = [0.5; 256];

fn block(product: Product, factors: usize) -> Block<'static, f32> {
    let layer = || Layer::cut(&WEIGHTS, 2, 2).0;
    let factors = (0..factors).map(|_| Mlp { layers: vec![layer()], activation: Activation::Relu }).collect();
    let branches = vec![Branch::Product { product, factors, norm: None }];
    Block { inputs: 2, identity: false, branches, join: None, residual: false, messages: None }
}

fn products() -> [(Product, usize, usize); 4] {
    [
        (Product::Matrix, 2, 2),
        (Product::Generalised, 2, 2),
        (Product::Generalised, 3, 3),
        (Product::Sums(2), 1, 2),
    ]
}

/// Squares that do not lie within 9 rows.
fn squares() -> Vec<(&'static str, Vec<Square>)> {
    let square = |start, nodes| Square { start, nodes, factor: 1.0 };
    let far = usize::MAX;
    vec![
        ("a start that wraps", vec![square(far, 3)]),
        ("a start that wraps to the slice", vec![square(far - 8, 3)]),
        ("a start that wraps when it is multiplied", vec![square(1 << 63, 1)]),
        ("more nodes than rows", vec![square(0, 4)]),
        ("nodes whose square wraps to 0", vec![square(0, 1 << 32)]),
        ("nodes whose square wraps to 1", vec![square(0, far)]),
        ("nodes whose cube wraps to 0", vec![square(0, 1 << 22)]),
        ("graphs that overlap", vec![square(0, 2), square(3, 2)]),
        ("graphs in the wrong order", vec![square(4, 2), square(0, 2)]),
        ("an empty graph far away", vec![square(far, 0), square(0, 3)]),
    ]
}

#[test]
fn point_12_squares_beyond_their_rows_are_refused() {
    let workspace = Workspace::default();
    let (x, own) = ([1.0f32; 18], [Square { start: 0, nodes: 1, factor: 1.0 }]);
    for (what, hostile) in squares() {
        for (product, factors, _) in products() {
            let block = block(product, factors);
            let forward = || drop(block.forward(&workspace, Pairs::Dense(&hostile), &x, Keep::Nothing));
            panics(&format!("{what}, {product:?} forward"), forward);
            let (y, kept) = block.forward(&workspace, Pairs::Dense(&own), &x, Keep::Results);
            let mut gradient = [0.0f32; 64];
            panics(&format!("{what}, {product:?} backward"), || {
                let d = Buffer::copy(&workspace, &y);
                block.backward(&workspace, Pairs::Dense(&hostile), &x, kept.unwrap(), d, &mut gradient, true);
            });
        }
        let layers =
            Linears { layers: vec![Equivariant::cut(&WEIGHTS, 2, 2).0], activation: Activation::Relu };
        let block = Block {
            inputs: 2,
            identity: false,
            branches: vec![Branch::Equivariant(layers)],
            join: None,
            residual: false,
            messages: None,
        };
        panics(&format!("{what}, equivariant"), || {
            drop(block.forward(&workspace, Pairs::Dense(&hostile), &x, Keep::Nothing));
        });
        let place: Vec<usize> = (0..hostile.len()).collect();
        let pools = Pools::Dense { order: 2, graphs: &hostile, place: &place };
        let mut to = vec![0.0; hostile.len() * 4];
        panics(&format!("{what}, maxima"), || drop(pool_max(pools, 2, &x, &mut to, true)));
        panics(&format!("{what}, sums"), || pool_sum(pools, 2, &x, &mut to));
        let mut dx = x;
        panics(&format!("{what}, sums backward"), || pool_sum_backward(pools, 2, &to, &mut dx));
    }
}

#[test]
fn point_12_colours_beyond_their_rows_are_refused() {
    let workspace = Workspace::default();
    let far = usize::MAX;
    // One graph of two nodes, three rows below: a sound case, and what is changed in it.
    let sound = ColourMatrix {
        below: 3,
        examples: &[Example { graph: 0, place: 1 }],
        nodes: &[2],
        factors: &[1.0],
        offsets: &[0],
        matrix: &[0, 1, 2, 0],
        twins: &[],
    };
    let example = |graph, place| [Example { graph, place }];
    let (graph, place) = (example(1, 0), example(0, 4));
    let cases = [
        ("an offset that wraps", ColourMatrix { offsets: &[far], ..sound }),
        ("an offset that wraps into the matrix", ColourMatrix { offsets: &[far - 3], ..sound }),
        ("an offset beyond the matrix", ColourMatrix { offsets: &[1], ..sound }),
        ("no offset", ColourMatrix { offsets: &[], ..sound }),
        ("more nodes than the matrix", ColourMatrix { nodes: &[3], ..sound }),
        ("nodes whose square wraps to 0", ColourMatrix { nodes: &[1 << 32], ..sound }),
        ("nodes whose square wraps to 1", ColourMatrix { nodes: &[far], ..sound }),
        ("a graph that is not there", ColourMatrix { examples: &graph, ..sound }),
        ("a tuple that is not there", ColourMatrix { examples: &place, ..sound }),
        ("a row that is not there", ColourMatrix { matrix: &[0, 1, 3, 0], ..sound }),
        ("no factor", ColourMatrix { factors: &[], ..sound }),
        ("fewer twins than nodes", ColourMatrix { twins: &[0], ..sound }),
        ("more twins than nodes", ColourMatrix { twins: &[0, 1, 2], ..sound }),
        ("a first twin that comes later", ColourMatrix { twins: &[1, 1], ..sound }),
        ("a first twin that has one before it", ColourMatrix { nodes: &[2, 1], twins: &[0, 0, 1], ..sound }),
        ("rows below that are not there", ColourMatrix { below: (1 << 63) + 3, ..sound }),
    ];
    let x = [1.0f32; 6];
    for (product, factors, order) in products().into_iter().filter(|p| p.2 == 2) {
        let block = block(product, factors);
        let fine = Pairs::Quotient { colours: sound, parents: &[1] };
        let (y, _) = block.forward(&workspace, fine, &x, Keep::Results);
        assert_eq!(y.len() % 2, 0, "{order}");
        for (what, colours) in cases {
            let pairs = Pairs::Quotient { colours, parents: &[1] };
            panics(&format!("{what}, {product:?} forward"), || {
                drop(block.forward(&workspace, pairs, &x, Keep::Nothing));
            });
            let (y, kept) = block.forward(&workspace, fine, &x, Keep::Results);
            let mut gradient = [0.0f32; 64];
            panics(&format!("{what}, {product:?} backward"), || {
                let d = Buffer::copy(&workspace, &y);
                block.backward(&workspace, pairs, &x, kept.unwrap(), d, &mut gradient, true);
            });
        }
    }
}

#[test]
fn point_12_parents_beyond_their_rows_are_refused() {
    let workspace = Workspace::default();
    let colours = ColourMatrix {
        below: 3,
        examples: &[Example { graph: 0, place: 1 }],
        nodes: &[2],
        factors: &[1.0],
        offsets: &[0],
        matrix: &[0, 1, 2, 0],
        twins: &[],
    };
    let x = [1.0f32; 6];
    let product = block(Product::Matrix, 2).branches.remove(0);
    let joined = Block {
        inputs: 2,
        identity: false,
        branches: vec![Branch::Skip, product],
        join: Some(Layer::cut(&WEIGHTS, 4, 2).0),
        residual: false,
        messages: None,
    };
    let alone = Block {
        inputs: 2,
        identity: false,
        branches: vec![Branch::Skip],
        join: None,
        residual: false,
        messages: None,
    };
    for block in [&joined, &alone] {
        for parents in [&[3][..], &[u32::MAX]] {
            let pairs = Pairs::Quotient { colours, parents };
            panics("a parent that is not there", || {
                drop(block.forward(&workspace, pairs, &x, Keep::Nothing))
            });
        }
    }
    let two = Pairs::Quotient { colours, parents: &[0, 1] };
    panics("two parents for one row", || drop(joined.forward(&workspace, two, &x, Keep::Nothing)));
}

#[test]
fn point_12_pools_beyond_their_rows_are_refused() {
    let x = [1.0f32; 6];
    let count = |row, pattern| [Count { row, pattern, count: 1 }];
    let (row, pattern, sound) = (count(3, 0), count(0, 2), count(0, 0));
    let quotient = |counts, offsets| Pools::Quotient { order: 2, counts, offsets };
    let graphs = [Square { start: 0, nodes: 1, factor: 1.0 }];
    for (what, pools) in [
        ("a row that is not there", quotient(&row[..], &[0, 1][..])),
        ("a pattern that is not there", quotient(&pattern, &[0, 1])),
        ("offsets beyond the counts", quotient(&sound, &[0, 2])),
        ("offsets that fall", quotient(&sound, &[1, 0])),
        ("no offsets", quotient(&sound, &[])),
        ("a place that is not there", Pools::Dense { order: 2, graphs: &graphs, place: &[1] }),
        ("no place", Pools::Dense { order: 2, graphs: &graphs, place: &[] }),
    ] {
        let mut to = [0.0f32; 4];
        panics(what, || drop(pool_max(pools, 2, &x, &mut to, true)));
        panics(what, || pool_sum(pools, 2, &x, &mut to));
        let mut dx = x;
        panics(what, || pool_sum_backward(pools, 2, &to, &mut dx));
    }
}

#[test]
fn point_12_shapes_that_wrap_are_refused() {
    let workspace = Workspace::default();
    let (none, mut some) = ([0.0f32; 0], [0.0f32; 4]);
    // 2^60 * 16 is 0.
    let wraps = (&none[..], 1 << 60, 16);
    panics("a matrix that wraps", || multiply(&workspace, &none, wraps, &mut [], false));
    panics("a matrix that wraps", || multiply_transposed(&workspace, &none, wraps, &mut [], false));
    panics("a gradient that wraps", || {
        add_outer(&workspace, (&none, 1 << 60), (&none, 16), &mut []);
    });
    panics("lengths that do not fit", || {
        multiply(&workspace, &[0.0; 3], (&[0.0; 4], 2, 2), &mut some, false)
    });
    panics("a layer that wraps", || drop(Layer::cut(&none, 1 << 60, 16).1.to_vec()));
    panics("a layer that wraps", || drop(Equivariant::cut(&none, 1 << 60, 16).1.to_vec()));
    let layer = Layer { weight: &none, bias: &none, inputs: 1 << 60, outputs: 16 };
    panics("a layer without weights", || layer.forward(&workspace, &none, &mut []));
}
