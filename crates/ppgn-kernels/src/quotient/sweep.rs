//! Measures from how many rows on a graph's whole product is cheaper than its rows one by one: what [`Pass::whole_is_cheaper`]
//! decides. Nothing is asserted; `docs/performance.md` has the table and the command.

use super::ways::{Own, Pass, Way};
use super::{BACKWARD, ColourMatrix, Example, Share, rows, whole};
use crate::large;
use crate::planes::Part;
use crate::shared::Shared;
use crate::simd::dispatch;
use crate::tests::naive::Random;
use crate::workspace::Workspace;
use std::time::Instant;

/// The least of several times, in nanoseconds: other work on the machine only adds.
fn time(mut run: impl FnMut()) -> f64 {
    run();
    let start = Instant::now();
    run();
    let once = start.elapsed().as_secs_f64().max(1e-7);
    let repeats = (2e-3 / once).ceil() as usize;
    let mut batch = || {
        let start = Instant::now();
        (0..repeats).for_each(|_| run());
        start.elapsed().as_secs_f64() * 1e9 / repeats as f64
    };
    (0..5).map(|_| batch()).fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "a measurement of minutes, not a test"]
fn sweep_rows_against_whole() {
    println!(
        "| n | channels | ns per row, forward | whole | break-even | rule | ns per row, backward | whole | break-even | rule |"
    );
    println!("|{}", " --- |".repeat(10));
    // Large graphs divide their product among threads; here all times are those of one.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    for channels in [16, 32, 64, 400] {
        for n in [6, 10, 14, 18, 26, 40, 60, 90, 119, 150, 250] {
            if n * n * channels <= 2_000_000 {
                println!("{}", alone.install(|| measure(n, channels)));
            }
        }
    }
}

fn measure(n: usize, channels: usize) -> String {
    let mut random = Random::new(n as u64);
    let mut pick = |below: usize| random.bits() as usize % below;
    // Half as many rows below as there are pairs, and an eighth as many above.
    let (below, above) = (n * n / 2, (n * n / 8).max(4));
    let matrix: Vec<u32> = (0..n * n).map(|_| pick(below) as u32).collect();
    let examples: Vec<Example> =
        (0..above).map(|_| Example { graph: 0, place: pick(n * n) as u32 }).collect();
    let rows = examples.iter().enumerate().map(|(row, e)| (row as u32, e.place)).collect();
    let own = Own { graph: 0, rows, way: Way::Whole };
    let colours = ColourMatrix {
        below,
        examples: &examples,
        nodes: &[n],
        factors: &[1.0],
        offsets: &[0],
        matrix: &matrix,
        twins: &[],
    };
    let mut numbers =
        |rows: usize| -> Vec<f32> { random.numbers(rows * channels).iter().map(|&x| x as f32).collect() };
    let (y1, y2, dw) = (numbers(below), numbers(below), numbers(above));
    let (mut w, mut d1, mut d2) = (numbers(above), numbers(below), numbers(below));
    let workspace = Workspace::default();
    let large = large::is_large(n);

    let shared = Shared::new(&mut w);
    let each = time(|| {
        let rows = &own.rows[..];
        dispatch(rows::Forward { colours, graph: 0, rows, channels, y1: &y1, y2: &y2, w: &shared });
    });
    let forward_row = each / above as f64;
    let forward_whole = time(|| {
        for part in Part::all(channels).cut(if large { large::CHANNELS } else { super::FORWARD }) {
            let task = whole::Forward {
                workspace: &workspace,
                colours,
                own: &own,
                part,
                y1: &y1,
                y2: &y2,
                w: &shared,
            };
            if large { task.large() } else { dispatch(task) }
        }
    });
    let (d1, d2) = (Shared::new(&mut d1), Shared::new(&mut d2));
    let share = |part: Part| Share {
        workspace: &workspace,
        colours,
        own: &own,
        part,
        dw: &dw,
        y: [&y1, &y2],
        d: [&d1, &d2],
    };
    let width = if channels.div_ceil(BACKWARD) < super::TASKS * 2 { large::CHANNELS } else { BACKWARD };
    let parts: Vec<Part> = Part::all(channels).cut(width).collect();
    let each = time(|| parts.iter().for_each(|&part| dispatch(rows::Backward(share(part)))));
    let backward_row = each / above as f64;
    let backward_whole = time(|| {
        for &part in &parts {
            let task = whole::Backward(share(part));
            if large { task.large() } else { dispatch(task) }
        }
    });
    // Rows, as a share of pairs, from which on the whole product takes less time: measured, and by the rule.
    let pairs = (n * n) as f64;
    let even = |whole: f64, row: f64| format!("{row:.0} | {whole:.0} | {:.2}", whole / row / pairs);
    let rule = |pass: Pass| {
        (1..=n * n).find(|&rows| pass.whole_is_cheaper(n, rows)).map_or(1.0, |r| r as f64 / pairs)
    };
    let (forward, backward) = (even(forward_whole, forward_row), even(backward_whole, backward_row));
    let [f, b] = [Pass::Forward, Pass::Backward].map(rule);
    format!("| {n} | {channels} | {forward} | {f:.2} | {backward} | {b:.2} |")
}
