//! The report as a picture: one bar per category, filled as far as pairs are distinguished, with the exact bound as a frame
//! and untrained weights as a mark.

use super::report::Report;
use crate::report::escape;
use std::fmt::Write;

const LEFT: f64 = 120.0;
const WIDTH: f64 = 420.0;
const ROW: f64 = 34.0;
const TOP: f64 = 58.0;

/// An SVG of the report.
///
/// # Complexity
/// O(categories).
pub fn picture(report: &Report) -> String {
    let height = TOP + ROW * report.categories.len() as f64 + 34.0;
    let width = LEFT + WIDTH + 190.0;
    let title = format!(
        "{}: {} of {} pairs distinguished, {} bounds it at {}",
        report.suite, report.distinguished, report.pairs, report.test, report.bound
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\" aria-label=\"{0}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"12\" y=\"22\" font-size=\"14\" font-weight=\"bold\" fill=\"#222222\">{0}</text>\n\
         <text x=\"12\" y=\"42\" fill=\"#666666\">filled: {1}; frame: {2}, exactly; mark: untrained weights</text>\n",
        escape(&title),
        escape(&report.protocol),
        escape(&report.test)
    );
    for (i, category) in report.categories.iter().enumerate() {
        let y = TOP + ROW * i as f64;
        let share = |count: usize| WIDTH * count as f64 / category.pairs.max(1) as f64;
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#222222\">{}</text>\n\
             <rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{WIDTH}\" height=\"20\" fill=\"#f0f0f0\"/>\n\
             <rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"20\" fill=\"#0072b2\"/>\n\
             <rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"20\" fill=\"none\" stroke=\"#222222\" \
             stroke-width=\"1.5\"/>\n",
            LEFT - 10.0,
            y + 14.0,
            escape(&category.name),
            share(category.distinguished),
            share(category.bound),
        );
        if let Some(least) = category.random.values().min().filter(|_| report.protocol == "rpc") {
            let x = LEFT + share(*least);
            let _ = writeln!(svg, "<path d=\"M{x:.1} {:.1}l5 -8h-10z\" fill=\"#d55e00\"/>", y);
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"#222222\">{} of {}, bound {}</text>",
            LEFT + WIDTH + 10.0,
            y + 14.0,
            category.distinguished,
            category.pairs,
            category.bound
        );
    }
    svg + "</svg>\n"
}
