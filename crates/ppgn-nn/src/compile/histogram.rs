//! The last block: the histogram of a graph's colours, as sums over its pairs.
//!
//! m1 is a table on the last colours and m2 passes on the identity matrix, so their product is the table itself, and m4
//! keeps only that. Sum pooling turns it into the histogram: one-hot, one channel per colour, if there are few colours;
//! otherwise a few channels of integers whose sums are checked to differ wherever the histograms of two graphs do.
//!
//! In the generalised product the table is the last factor, the first passes on whether the first and last node of the
//! tuple are equal, and the others are 1: `sum over j of [j = ik] * f(i1..i(k-1),j)`. Of k-WL's sums, m4 keeps those
//! over the first position: the sum over all tuples counts each of them n times, so the scores are n times the
//! histogram, which is equally informative.

use super::exact::Largest;
use super::form::Form;
use super::plan::BlockPlan;
use super::table::{Codes, Layer};
use crate::error::{Error, Result};
use ppgn_graph::random::Stream;
use ppgn_wl::Refinement;
use std::collections::HashMap;

/// Up to this number of colours, each has its own channel.
const ONE_HOT: usize = 256;

/// The number of occurrences of each colour in a graph, ascending by colour, without zeros.
pub(super) type Counts = Vec<(u32, u64)>;

/// For every channel, one value per colour.
type Tables = Vec<Vec<i64>>;

/// For every graph, one score per channel.
type Scores = Vec<Vec<i64>>;

/// The histograms of all graphs after a round. O(pairs log pairs).
pub(super) fn histograms(colours: &Refinement, round: usize) -> Vec<Counts> {
    let ancestors = colours.ancestors(round);
    let of = |graph: usize| {
        let mut all: Vec<u32> = colours.colours(graph).iter().map(|&c| ancestors[c as usize]).collect();
        all.sort_unstable();
        all.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u64)).collect()
    };
    (0..colours.graphs()).map(of).collect()
}

/// The number of distinct histograms.
pub(super) fn classes(histograms: &[Counts]) -> usize {
    histograms.iter().collect::<std::collections::HashSet<_>>().len()
}

/// The last block, and the scores of every graph.
pub(super) struct Histogram {
    pub(super) plan: BlockPlan,
    pub(super) scores: Scores,
}

impl Histogram {
    /// The block for rows with these codes, one code per colour.
    pub(super) fn new(
        form: &Form,
        nodes: &[usize],
        channels: &[i64],
        identity: usize,
        codes: &[i64],
        histograms: &[Counts],
        largest: &mut Largest,
    ) -> Result<Self> {
        let counted = match form.sums {
            false => histograms.to_vec(),
            true => histograms.iter().zip(nodes).map(|(h, &n)| times(h, n as u64)).collect(),
        };
        let (tables, scores) = match codes.len() {
            colours if colours <= ONE_HOT => {
                let tables = one_hot(colours);
                let scores = scores(&tables, &counted);
                (tables, scores)
            }
            colours => separating(colours, &counted)?,
        };
        let domain = Codes::new(channels.to_vec(), codes.to_vec());
        let ranked = |table: &Vec<i64>| {
            let mut ranked = vec![0; domain.len()];
            codes.iter().zip(table).for_each(|(&code, &value)| ranked[domain.rank(code)] = value);
            ranked
        };
        let table = domain.tables(&tables.iter().map(ranked).collect::<Vec<_>>(), largest)?;
        let equal = || domain.pass(identity, tables.len());
        let factors = match (form.sums, form.order) {
            (false, 2) => vec![table, equal()?],
            (false, k) => {
                let ones = domain.tables(&vec![vec![1; domain.len()]; tables.len()], largest)?;
                [vec![equal()?], vec![ones; k - 2], vec![table]].concat()
            }
            (true, _) => vec![table],
        };
        // How many copies of the tables' channels W has: one, or one per position.
        let places = if form.sums { form.order } else { 1 };
        let mut m4 = Layer::zeros(channels.len() + places * tables.len(), tables.len())?;
        (0..tables.len()).for_each(|c| m4.set(c, channels.len() + c, 1));
        let most = scores.iter().flatten().map(|s| i128::from(s.abs())).max().unwrap_or(0);
        largest.admit(2 * most, || format!("the sums over a graph's {}", form.tuples()))?;
        let note = format!(
            "histogram: {} colours, {} {}; {}",
            codes.len(),
            tables.len(),
            match (codes.len() <= ONE_HOT, tables.len()) {
                (true, 1) => "channel, one-hot",
                (true, _) => "channels, one-hot",
                (false, 1) => "channel of integers",
                (false, _) => "channels of integers",
            },
            match (form.sums, form.order) {
                (false, 2) => "m2 is the identity matrix, W the table",
                (false, _) => "the product selects the tuple itself, W is the table",
                (true, _) => "m4 keeps the sums over the first position: n times the histogram",
            }
        );
        Ok(Histogram { plan: BlockPlan { factors, m4, note }, scores })
    }
}

/// The counts multiplied by a factor.
fn times(counts: &Counts, times: u64) -> Counts {
    counts.iter().map(|&(colour, count)| (colour, count * times)).collect()
}

fn one_hot(colours: usize) -> Tables {
    (0..colours).map(|channel| (0..colours).map(|c| i64::from(c == channel)).collect()).collect()
}

fn scores(tables: &[Vec<i64>], histograms: &[Counts]) -> Scores {
    let score = |table: &Vec<i64>, counts: &Counts| -> i64 {
        counts.iter().map(|&(colour, count)| table[colour as usize] * count as i64).sum()
    };
    histograms.iter().map(|counts| tables.iter().map(|table| score(table, counts)).collect()).collect()
}

/// Tables whose sums differ exactly where the histograms do, and those sums.
fn separating(colours: usize, histograms: &[Counts]) -> Result<(Tables, Scores)> {
    const ATTEMPTS: u64 = 40;
    let pairs = (histograms.len() as f64).powi(2);
    for attempt in 0..ATTEMPTS {
        let channels = 1 + attempt as usize / 4;
        let below = (4.0 * pairs * 1.5f64.powi(attempt as i32 / 4)).clamp(64.0, 2f64.powi(20)) as usize;
        let tables: Tables = (0..channels)
            .map(|c| {
                let mut random = Stream::new(0, "histogram", &[attempt, c as u64]);
                (0..colours).map(|_| random.below(below) as i64).collect()
            })
            .collect();
        let scores = scores(&tables, histograms);
        let mut known: HashMap<&[i64], &Counts> = HashMap::new();
        if scores
            .iter()
            .zip(histograms)
            .all(|(score, counts)| known.entry(score).or_insert(counts) == &counts)
        {
            return Ok((tables, scores));
        }
    }
    Err(Error::unfit(format!(
        "found no tables that distinguish the histograms of {} graphs ({ATTEMPTS} attempts); compile fewer \
         graphs together",
        histograms.len()
    )))
}
