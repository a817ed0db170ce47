//! Blocks of every kind and size, forward and backward.

use super::naive::{self, Form, Random, Way, cut};
use crate::{
    Activation, Block, Branch, Buffer, ColourMatrix, Example, Keep, Kept, Layer, Mlp, Pairs, Product, Real,
    Square, Workspace,
};

fn build<'a, T: Real>(form: &Form, flat: &'a [T]) -> Block<'a, T> {
    let mut rest = flat;
    let mut layer = |inputs, outputs| {
        let (layer, next) = Layer::cut(rest, inputs, outputs);
        rest = next;
        layer
    };
    let mut mlp = |widths: &[usize]| Mlp {
        layers: widths.windows(2).map(|w| layer(w[0], w[1])).collect(),
        activation: form.activation,
    };
    let skip = form.m3.as_ref().map_or(Branch::Skip, |m3| Branch::Rows(mlp(m3)));
    let factors = vec![mlp(&form.mlp), mlp(&form.mlp)];
    let join = form.m4.map(|m4| layer(form.passed() + form.product(), m4));
    assert!(rest.is_empty());
    let product = Branch::Product { product: Product::Matrix, factors, norm: form.norm };
    Block {
        inputs: form.inputs(),
        identity: false,
        branches: vec![skip, product],
        join,
        residual: form.residual,
        messages: None,
    }
}

fn rounded<T: Real>(numbers: &[f64]) -> Vec<T> {
    numbers.iter().map(|&x| T::rounded(x)).collect()
}

fn close<T: Real>(got: &[T], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(got.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(1e-3f64, |m, x| m.max(x.abs()));
    for (at, (&g, &w)) in got.iter().zip(expected).enumerate() {
        assert!((g.wide() - w).abs() <= tolerance * scale, "{what}[{at}]: {g:?} {w} of {scale}");
    }
}

fn compare<T: Real>(
    form: &Form,
    pairs: Pairs<'_>,
    way: &Way<'_>,
    rows: [usize; 2],
    seed: u64,
    tolerance: f64,
) {
    let [below, above] = rows;
    let workspace = Workspace::default();
    let mut random = Random::new(seed);
    // Values that both precisions represent exactly.
    let mut numbers =
        |count| -> Vec<f64> { random.numbers(count).iter().map(|&x| f64::from(x as f32)).collect() };
    let (p, x, d) = (numbers(form.len()), numbers(below * form.inputs()), numbers(above * form.outputs()));
    let (output, gradient, dx) =
        naive::block(form, way, above, &p, &cut(&x, form.inputs()), &cut(&d, form.outputs()));
    let (p, x) = (rounded::<T>(&p), rounded::<T>(&x));
    let block = build(form, &p);
    let (got, kept) = block.forward(&workspace, pairs, &x, Keep::Results);
    close(&got, &output.concat(), tolerance, "output");
    let (again, none) = block.forward(&workspace, pairs, &x, Keep::Nothing);
    assert!(again[..] == got[..] && none.is_none());
    let back = |kept: Kept<T>| {
        let mut dy = Buffer::dirty(&workspace, d.len());
        dy.copy_from_slice(&rounded::<T>(&d));
        let mut g = vec![T::default(); p.len()];
        let dx = block.backward(&workspace, pairs, &x, kept, dy, &mut g, true).unwrap();
        (g, dx.to_vec())
    };
    let (g, got) = back(kept.unwrap());
    close(&g, &gradient, tolerance, "gradient");
    close(&got, &dx.concat(), tolerance, "dx");
    // Kept hidden layers give the same gradients as recomputed ones.
    let (_, kept) = block.forward(&workspace, pairs, &x, Keep::Hidden);
    assert!(back(kept.unwrap()) == (g, got));
}

fn forms() -> Vec<Form> {
    let activation = Activation::Relu;
    let paper = Form { mlp: vec![5, 7, 7], m3: None, m4: Some(7), norm: None, residual: false, activation };
    let [sin, gelu] = [Activation::Sin, Activation::Gelu];
    vec![
        Form { activation: sin, ..paper.clone() },
        Form { activation: gelu, ..paper.clone() },
        Form { activation: sin, mlp: vec![3, 70], m4: None, m3: Some(vec![3, 9, 4]), ..paper.clone() },
        Form { activation: gelu, mlp: vec![16, 5, 17, 16], m4: Some(16), residual: true, ..paper.clone() },
        Form { activation: sin, norm: Some(1e-5), ..paper.clone() },
        paper.clone(),
        Form { mlp: vec![1, 1], m4: Some(1), ..paper.clone() },
        Form { mlp: vec![19, 40, 33], m4: Some(50), ..paper.clone() },
        Form { mlp: vec![16, 16, 16, 16], m4: Some(16), residual: true, ..paper.clone() },
        Form { mlp: vec![3, 70], m4: None, ..paper.clone() },
        Form { m3: Some(vec![5, 9, 4]), ..paper.clone() },
        Form { m3: Some(vec![5, 6]), m4: None, ..paper.clone() },
        Form { norm: Some(1e-5), ..paper.clone() },
        Form { mlp: vec![32, 48, 65], norm: Some(1e-5), residual: true, m4: Some(32), ..paper },
    ]
}

/// Graphs with the given numbers of nodes, one after another, scaled by 1 / n.
fn squares(nodes: &[usize]) -> (Vec<Square>, usize) {
    let mut start = 0;
    let squares = nodes.iter().map(|&nodes| {
        let square = Square { start, nodes, factor: 1.0 / nodes.max(1) as f64 };
        start += nodes * nodes;
        square
    });
    (squares.collect(), start)
}

#[test]
fn dense_blocks_match_the_equations() {
    for (f, form) in forms().iter().enumerate() {
        for (s, sizes) in [&[1][..], &[4, 0, 1, 3], &[7, 2], &[19]].into_iter().enumerate() {
            let (graphs, rows) = squares(sizes);
            let seed = (10 * f + s) as u64;
            let (pairs, way) = (Pairs::Dense(&graphs), Way::Dense(&graphs));
            compare::<f64>(form, pairs, &way, [rows, rows], seed, 1e-12);
            compare::<f32>(form, pairs, &way, [rows, rows], seed, 2e-5);
        }
    }
}

#[test]
fn a_graph_larger_than_a_cache_block() {
    let (graphs, rows) = squares(&[53]);
    for activation in [Activation::Relu, Activation::Sin] {
        let form = Form { mlp: vec![2, 3], m3: None, m4: Some(2), norm: None, residual: false, activation };
        compare::<f64>(&form, Pairs::Dense(&graphs), &Way::Dense(&graphs), [rows, rows], 3, 1e-11);
        compare::<f32>(&form, Pairs::Dense(&graphs), &Way::Dense(&graphs), [rows, rows], 3, 2e-5);
    }
}

/// Beyond 120 nodes the product is a matrix product per channel; the channels fill one group and part of a second.
#[test]
fn a_large_graph_beside_a_small_one() {
    let (graphs, rows) = squares(&[5, 121]);
    let activation = Activation::Sin;
    let form = Form { mlp: vec![2, 19], m3: None, m4: Some(2), norm: None, residual: false, activation };
    compare::<f64>(&form, Pairs::Dense(&graphs), &Way::Dense(&graphs), [rows, rows], 3, 1e-11);
    compare::<f32>(&form, Pairs::Dense(&graphs), &Way::Dense(&graphs), [rows, rows], 3, 2e-4);
}

#[test]
fn quotient_blocks_match_the_equations() {
    // The colours may be arbitrary: the kernels do not require them to be stable. A few rows are computed one by one;
    // for many, the whole product is computed.
    quotient_blocks(
        &[(6, 6, 9, 1), (6, 6, 9, 14), (6, 6, 9, 40), (11, 11, 70, 3), (11, 11, 70, 110)],
        &forms(),
        [1e-12, 2e-5],
    );
}

#[test]
fn a_large_graph_on_the_quotient_space() {
    let activation = Activation::Sin;
    let form = Form { mlp: vec![2, 19], m3: None, m4: Some(2), norm: None, residual: false, activation };
    quotient_blocks(&[(122, 122, 300, 40), (122, 122, 300, 3000)], &[form], [1e-11, 2e-4]);
}

#[test]
fn twins_do_not_change_a_block() {
    // Few rows and many, one class and several, few of whose nodes are alone.
    quotient_blocks(
        &[
            (9, 1, 5, 4),
            (9, 3, 20, 2),
            (24, 5, 60, 30),
            (40, 12, 70, 150),
            (40, 30, 900, 900),
            (40, 31, 900, 900),
        ],
        &forms(),
        [1e-12, 2e-5],
    );
    // More than 120 nodes, of less and of more classes.
    let activation = Activation::Relu;
    let form = Form { mlp: vec![2, 19, 17], m3: None, m4: Some(2), norm: None, residual: false, activation };
    quotient_blocks(&[(130, 50, 300, 2000), (170, 122, 300, 9000)], &[form], [1e-11, 2e-4]);
}

/// Blocks on one graph: `(nodes, classes of twins, rows below, rows above)`, with the tolerances of f64 and f32.
fn quotient_blocks(shapes: &[(usize, usize, usize, usize)], forms: &[Form], tolerances: [f64; 2]) {
    for &(nodes, classes, below, above) in shapes {
        let mut random = Random::new(1);
        let mut pick = |below: usize| random.bits() as usize % below;
        // The first nodes are one of every class; then they are mixed.
        let mut class: Vec<usize> =
            (0..nodes).map(|node| if node < classes { node } else { pick(classes) }).collect();
        if classes < nodes {
            (1..nodes).rev().for_each(|node| class.swap(node, pick(node + 1)));
        }
        let first = |&of: &usize| class.iter().position(|&class| class == of).unwrap() as u32;
        let twins: Vec<u32> = class.iter().map(first).collect();
        // The row of a pair is that of its classes, and whether it is one node twice.
        let rows: Vec<usize> = (0..classes * classes).map(|_| pick(below)).collect();
        let diagonal: Vec<usize> = (0..classes).map(|_| pick(below)).collect();
        let row = |i: usize, k: usize| {
            if i == k { diagonal[class[i]] } else { rows[class[i] * classes + class[k]] }
        };
        let matrix: Vec<u32> =
            (0..nodes * nodes).map(|place| row(place / nodes, place % nodes) as u32).collect();
        let examples: Vec<Example> =
            (0..above).map(|_| Example { graph: 0, place: pick(nodes * nodes) as u32 }).collect();
        let parents: Vec<u32> = (0..above).map(|_| pick(below) as u32).collect();
        let way =
            Way::Quotient { examples: &examples, parents: &parents, nodes, factor: 0.5, matrix: &matrix };
        for twins in [&[][..], &twins] {
            let colours = ColourMatrix {
                below,
                examples: &examples,
                nodes: &[nodes],
                factors: &[0.5],
                offsets: &[0],
                matrix: &matrix,
                twins,
            };
            let pairs = Pairs::Quotient { colours, parents: &parents };
            for (f, form) in forms.iter().enumerate() {
                compare::<f64>(form, pairs, &way, [below, above], f as u64, tolerances[0]);
                compare::<f32>(form, pairs, &way, [below, above], f as u64, tolerances[1]);
            }
        }
    }
}

/// Rows enough for many parts, and tiles of all heights and widths; with layers that are computed part by part, and with
/// others.
#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    for (width, activation) in [(37, Activation::Relu), (37, Activation::Gelu), (250, Activation::Relu)] {
        let mlp = vec![5, width, width];
        same_bits(&Form { mlp, m3: None, m4: Some(33), norm: Some(1e-5), residual: false, activation });
    }
}

fn same_bits(form: &Form) {
    let (graphs, rows) = squares(&[9, 14, 3, 30, 123]);
    let mut random = Random::new(8);
    let (p, x, d) = (
        rounded::<f32>(&random.numbers(form.len())),
        rounded::<f32>(&random.numbers(rows * form.inputs())),
        rounded::<f32>(&random.numbers(rows * form.outputs())),
    );
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let workspace = Workspace::default();
            let block = build(form, &p);
            let (output, kept) = block.forward(&workspace, Pairs::Dense(&graphs), &x, Keep::Hidden);
            let mut dy = Buffer::dirty(&workspace, d.len());
            dy.copy_from_slice(&d);
            let mut g = vec![0.0; p.len()];
            let dx = block
                .backward(&workspace, Pairs::Dense(&graphs), &x, kept.unwrap(), dy, &mut g, true)
                .unwrap();
            (output.to_vec(), g, dx.to_vec())
        })
    };
    assert_eq!(run(1), run(3));
}
