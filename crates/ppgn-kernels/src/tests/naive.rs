//! A block and its gradient straight from the equations: one number at a time, in f64.

use crate::{Activation, Example, Square};

/// A stream of random numbers in -1..1, with some exact zeros.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    pub(crate) fn number(&mut self) -> f64 {
        let bits = self.bits();
        if bits.is_multiple_of(7) { 0.0 } else { (bits >> 3) as f64 / (1u64 << 49) as f64 - 1.0 }
    }

    pub(crate) fn numbers(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.number()).collect()
    }
}

/// A block's shape: the widths of m1 and m2 (input first), of m3, and of the output.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    pub(crate) mlp: Vec<usize>,
    pub(crate) m3: Option<Vec<usize>>,
    pub(crate) m4: Option<usize>,
    pub(crate) norm: Option<f64>,
    pub(crate) residual: bool,
    pub(crate) activation: Activation,
}

impl Form {
    pub(crate) fn inputs(&self) -> usize {
        self.mlp[0]
    }

    pub(crate) fn product(&self) -> usize {
        self.mlp[self.mlp.len() - 1]
    }

    pub(crate) fn passed(&self) -> usize {
        self.m3.as_ref().map_or(self.inputs(), |m3| m3[m3.len() - 1])
    }

    pub(crate) fn outputs(&self) -> usize {
        self.m4.unwrap_or(self.passed() + self.product())
    }

    pub(crate) fn len(&self) -> usize {
        let mlp = |widths: &[usize]| widths.windows(2).map(|w| (w[0] + 1) * w[1]).sum::<usize>();
        let m4 = self.m4.map_or(0, |m4| (self.passed() + self.product() + 1) * m4);
        2 * mlp(&self.mlp) + self.m3.as_ref().map_or(0, |m3| mlp(m3)) + m4
    }
}

/// How the rows of one level give those of the next.
pub(crate) enum Way<'a> {
    Dense(&'a [Square]),
    Quotient { examples: &'a [Example], parents: &'a [u32], nodes: usize, factor: f64, matrix: &'a [u32] },
}

impl Way<'_> {
    /// (row above, row of Y1, row of Y2, factor) for every term of every product.
    fn terms(&self) -> Vec<(usize, usize, usize, f64)> {
        let mut terms = Vec::new();
        match self {
            Way::Dense(graphs) => {
                for &Square { start, nodes: n, factor } in *graphs {
                    for i in 0..n {
                        for k in 0..n {
                            for j in 0..n {
                                terms.push((start + i * n + k, start + i * n + j, start + j * n + k, factor));
                            }
                        }
                    }
                }
            }
            Way::Quotient { examples, nodes: n, factor, matrix, .. } => {
                for (row, e) in examples.iter().enumerate() {
                    for j in 0..*n {
                        let (i, k) = (e.place as usize / n, e.place as usize % n);
                        let (l, r) = (matrix[i * n + j], matrix[j * n + k]);
                        terms.push((row, l as usize, r as usize, *factor));
                    }
                }
            }
        }
        terms
    }

    fn parent(&self, row: usize) -> usize {
        match self {
            Way::Dense(_) => row,
            Way::Quotient { parents, .. } => parents[row] as usize,
        }
    }
}

type Rows = Vec<Vec<f64>>;

pub(crate) fn cut(numbers: &[f64], width: usize) -> Rows {
    numbers.chunks(width).map(<[f64]>::to_vec).collect()
}

/// One layer in a flat array: the index of weight (o, i) and of bias o.
struct Layer {
    start: usize,
    inputs: usize,
    outputs: usize,
}

impl Layer {
    fn weight(&self, o: usize, i: usize) -> usize {
        self.start + o * self.inputs + i
    }

    fn bias(&self, o: usize) -> usize {
        self.start + self.inputs * self.outputs + o
    }
}

fn layers(widths: &[usize], start: &mut usize) -> Vec<Layer> {
    let layer = |w: &[usize]| {
        let layer = Layer { start: *start, inputs: w[0], outputs: w[1] };
        *start += (w[0] + 1) * w[1];
        layer
    };
    widths.windows(2).map(layer).collect()
}

fn linear(layer: &Layer, p: &[f64], x: &[f64]) -> Vec<f64> {
    let out = |o| p[layer.bias(o)] + (0..layer.inputs).map(|i| p[layer.weight(o, i)] * x[i]).sum::<f64>();
    (0..layer.outputs).map(out).collect()
}

/// An activation and its derivative; the normal distribution by its series, whose terms all have one sign.
fn activated(activation: Activation, x: f64) -> [f64; 2] {
    match activation {
        Activation::Relu => [x.max(0.0), if x > 0.0 { 1.0 } else { 0.0 }],
        Activation::Sin => [x.sin(), x.cos()],
        Activation::Gelu => {
            let density = (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
            let (mut term, mut sum) = (x, x);
            let mut n = 1.0;
            while term.abs() > 1e-17 * sum.abs() {
                n += 2.0;
                term *= x * x / n;
                sum += term;
            }
            let below = 0.5 + density * sum;
            [x * below, below + x * density]
        }
    }
}

/// The outputs of all layers for one row, the row first; then the derivatives of the activation after each layer.
fn mlp(activation: Activation, layers: &[Layer], p: &[f64], x: &[f64]) -> (Rows, Rows) {
    let (mut all, mut slopes) = (vec![x.to_vec()], Vec::new());
    for layer in layers {
        let y = linear(layer, p, &all[all.len() - 1]);
        let both = y.iter().map(|&y| activated(activation, y));
        all.push(both.clone().map(|[value, _]| value).collect());
        slopes.push(both.map(|[_, slope]| slope).collect());
    }
    (all, slopes)
}

/// Adds to the gradient of the parameters; returns that of the input.
fn linear_back(layer: &Layer, p: &[f64], x: &[f64], d: &[f64], g: &mut [f64]) -> Vec<f64> {
    let mut dx = vec![0.0; layer.inputs];
    for o in 0..layer.outputs {
        g[layer.bias(o)] += d[o];
        for i in 0..layer.inputs {
            g[layer.weight(o, i)] += d[o] * x[i];
            dx[i] += d[o] * p[layer.weight(o, i)];
        }
    }
    dx
}

fn mlp_back(layers: &[Layer], p: &[f64], (all, slopes): &(Rows, Rows), d: &[f64], g: &mut [f64]) -> Vec<f64> {
    let mut d = d.to_vec();
    for (l, layer) in layers.iter().enumerate().rev() {
        d.iter_mut().zip(&slopes[l]).for_each(|(d, &s)| *d *= s);
        d = linear_back(layer, p, &all[l], &d, g);
    }
    d
}

fn add(to: &mut [f64], more: &[f64]) {
    to.iter_mut().zip(more).for_each(|(t, m)| *t += m);
}

/// The output of a block and, given its gradient `d`, the gradients of the parameters and of X.
pub(crate) fn block(
    form: &Form,
    way: &Way<'_>,
    above: usize,
    p: &[f64],
    x: &Rows,
    d: &Rows,
) -> (Rows, Vec<f64>, Rows) {
    let mut start = 0;
    let l3 = form.m3.as_ref().map_or(Vec::new(), |m3| layers(m3, &mut start));
    let [l1, l2] = [(); 2].map(|()| layers(&form.mlp, &mut start));
    let m4 = form.m4.map(|m4| layers(&[form.passed() + form.product(), m4], &mut start).remove(0));
    let all =
        |l: &[Layer]| -> Vec<(Rows, Rows)> { x.iter().map(|x| mlp(form.activation, l, p, x)).collect() };
    let (a1, a2, a3) = (all(&l1), all(&l2), all(&l3));
    let last =
        |all: &[(Rows, Rows)]| -> Rows { all.iter().map(|(all, _)| all[all.len() - 1].clone()).collect() };
    let (y1, y2, passed) = (last(&a1), last(&a2), last(&a3));
    let mut w = vec![vec![0.0; form.product()]; above];
    for &(row, l, r, factor) in &way.terms() {
        (0..form.product()).for_each(|c| w[row][c] += factor * y1[l][c] * y2[r][c]);
    }
    let scale = |w: &Vec<f64>| {
        let square: f64 = w.iter().map(|x| x * x).sum();
        form.norm.map_or(1.0, |e| 1.0 / (square / w.len() as f64 + e).sqrt())
    };
    let scales: Vec<f64> = w.iter().map(scale).collect();
    let normed: Rows = w.iter().zip(&scales).map(|(w, r)| w.iter().map(|x| x * r).collect()).collect();
    let mut outputs = Vec::new();
    let mut g = vec![0.0; p.len()];
    let mut dx = vec![vec![0.0; form.inputs()]; x.len()];
    let mut dpassed = vec![vec![0.0; form.passed()]; x.len()];
    let mut d1 = vec![vec![0.0; form.product()]; x.len()];
    let mut d2 = d1.clone();
    let mut dw = w.clone();
    for row in 0..above {
        let parent = way.parent(row);
        let both = [passed[parent].clone(), normed[row].clone()].concat();
        let mut output = m4.as_ref().map_or(both.clone(), |m4| linear(m4, p, &both));
        let back = m4.as_ref().map_or(d[row].clone(), |m4| linear_back(m4, p, &both, &d[row], &mut g));
        if form.residual {
            add(&mut output, &x[parent]);
            add(&mut dx[parent], &d[row]);
        }
        outputs.push(output);
        add(&mut dpassed[parent], &back[..form.passed()]);
        let dn = &back[form.passed()..];
        let along: f64 = dn.iter().zip(&normed[row]).map(|(d, n)| d * n).sum::<f64>() / dn.len() as f64;
        let r = scales[row];
        let through = |d: f64, n: f64| if form.norm.is_some() { r * (d - n * along) } else { d };
        dw[row] = dn.iter().zip(&normed[row]).map(|(&d, &n)| through(d, n)).collect();
    }
    for &(row, l, r, factor) in &way.terms() {
        for c in 0..form.product() {
            d1[l][c] += factor * dw[row][c] * y2[r][c];
            d2[r][c] += factor * dw[row][c] * y1[l][c];
        }
    }
    for row in 0..x.len() {
        add(&mut dx[row], &mlp_back(&l1, p, &a1[row], &d1[row], &mut g));
        add(&mut dx[row], &mlp_back(&l2, p, &a2[row], &d2[row], &mut g));
        add(&mut dx[row], &mlp_back(&l3, p, &a3[row], &dpassed[row], &mut g));
    }
    (outputs, g, dx)
}
