//! A page of HTML that needs nothing but a browser: no script, no other file. It is legible on a phone, and in light and dark.

use crate::chart::Look;

const STYLE: &str = "\
*{box-sizing:border-box}
:root{--ink:#1b1f24;--soft:#5d6675;--line:#dde2e8;--card:#f5f7f9;--page:#fff;--train:#7b8698;--validation:#c76a00;--test:#1769c0;--heat:23,105,192}
@media(prefers-color-scheme:dark){:root{color-scheme:dark;--ink:#e6e9ee;--soft:#9aa4b5;--line:#313844;--card:#1b2027;--page:#12161c;--train:#8d97a8;--validation:#f5a04a;--test:#6cb0f5;--heat:108,176,245;--c0:#5aa9e6;--c1:#f08a4b;--c2:#3cc79a;--c3:#e29ac5;--c4:#d1b13c;--c5:#8fd0f7;--c6:#b48ae8;--c7:#a8a8a8}}
body{margin:0 auto;max-width:62rem;padding:2rem 1.2rem 4rem;font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page)}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .4rem;overflow-wrap:anywhere}h2{font-size:1.1rem;margin:2.2rem 0 .6rem}
p{margin:.3rem 0;color:var(--soft)}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.7rem;margin:1.3rem 0}
.figure{background:var(--card);border-radius:.6rem;padding:.7rem 1rem;min-width:0}
.figure b{display:block;font-size:1.4rem;line-height:1.3;overflow-wrap:anywhere}small{font-size:.85em}td small,th small{display:block;color:var(--soft);font-weight:400}.figure span,.figure small{display:block;color:var(--soft);line-height:1.35}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,26rem),1fr));gap:1rem 1.6rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;min-width:50%}td,th{text-align:left;padding:.3rem .9rem .3rem 0;border-bottom:1px solid var(--line)}
th{font-weight:600}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;padding-right:1.2rem}td.n{white-space:nowrap}
table.confusion{min-width:0}table.confusion td.n{padding:.35rem .8rem;border:2px solid var(--page);text-align:center;min-width:3rem}
table.confusion th{border:0;text-align:center;padding:.2rem .6rem}
svg{width:100%;height:auto;max-width:34rem}svg text{font:13px system-ui,sans-serif}svg text[font-weight]{font-weight:600}
pre{background:var(--card);border-radius:.6rem;padding:1rem;font-size:13px;white-space:pre-wrap;overflow-wrap:anywhere}
@media(max-width:30rem){body{padding:1.2rem .9rem 3rem}h1{font-size:1.35rem}.figures{grid-template-columns:1fr 1fr}.figure b{font-size:1.2rem}td,th{padding-right:.6rem}td.n,th.n{padding-right:.45rem}table{font-size:.92em}}
@media print{body{max-width:none}.figure,pre{border:1px solid var(--line)}}
";

/// A page that is being written.
pub(crate) struct Page(String);

impl Page {
    /// A page with a title, by a command.
    pub(crate) fn new(title: &str, generator: &str) -> Self {
        let (title, generator) = (escape(title), escape(generator));
        let colours = Look::variables();
        Page(format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width,initial-scale=1\">\n<meta name=\"generator\" content=\"{generator}\">\n\
             <title>{title}</title>\n<style>\n:root{{{colours}}}\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        ))
    }

    /// Adds HTML.
    pub(crate) fn push(&mut self, html: &str) {
        self.0.push_str(html);
    }

    /// Adds a heading.
    pub(crate) fn heading(&mut self, text: &str) {
        self.push(&format!("<h2>{}</h2>\n", escape(text)));
    }

    /// Adds a paragraph.
    pub(crate) fn paragraph(&mut self, text: &str) {
        self.push(&format!("<p>{}</p>\n", escape(text)));
    }

    /// The whole page.
    pub(crate) fn end(self) -> String {
        self.0 + "</body>\n</html>\n"
    }
}

/// A table of texts: the first row and the first column are heads.
pub fn html_table(rows: &[Vec<String>]) -> String {
    let mut html = "<div class=scroll><table>\n".to_string();
    for (r, row) in rows.iter().enumerate() {
        html += "<tr>";
        for (c, cell) in row.iter().enumerate() {
            let tag = if r == 0 { "th" } else { "td" };
            let class = if c == 0 { "" } else { " class=n" };
            html += &format!("<{tag}{class}>{}", escape(cell));
        }
        html += "</tr>\n";
    }
    html + "</table></div>\n"
}

/// Lines of text as HTML.
pub fn html_list(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| format!("<p>{}</p>\n", escape(&line))).collect()
}

/// Text as HTML has it.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
