//! GML: keys with values, nested in brackets, as NetworkX and igraph write it.
//!
//! ```text
//! graph [
//!   directed 1
//!   node [ id 0 label "a" color "red" ]
//!   node [ id 1 label "b" color "blue" ]
//!   edge [ source 0 target 1 weight 0.5 ]
//! ]
//! ```
//!
//! A node's `label` is its name in NetworkX and therefore no attribute here. What a graph, a node or an edge has in nested
//! brackets (yEd's graphics) is skipped.

use super::attributes::Value;
use super::collect::Raw;
use super::lines::{integer, show};
use super::nodes::Nodes;
use super::{Entry, Report, Source, xml};
use crate::error::{Defect, Result};

/// The graphs of a file.
pub(super) fn read(source: &Source, entry: &Entry, _report: &mut Report) -> Result<Vec<Raw>> {
    let text = source.text(entry)?;
    let mut reader = Reader { tokens: Tokens { text: &text, at: 0 }, max_nodes: source.limits().max_nodes };
    let wrong = |message: String, line| Defect::new(source.describe(entry), message).line(line).into();
    let graphs = match reader.document() {
        Ok(graphs) => graphs,
        Err(message) => return Err(wrong(message, reader.tokens.line())),
    };
    match graphs.is_empty() {
        true => Err(Defect::new(source.describe(entry), "no graph in it").into()),
        false => Ok(graphs),
    }
}

#[derive(Debug, PartialEq)]
enum Token<'a> {
    Key(&'a str),
    Value(Value),
    Open,
    Close,
}

struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    fn line(&self) -> u64 {
        1 + memchr::memchr_iter(b'\n', &self.text.as_bytes()[..self.at]).count() as u64
    }

    fn next(&mut self) -> Result<Option<Token<'a>>, String> {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            let rest = &rest[blank..];
            let Some(first) = rest.chars().next() else { return Ok(None) };
            match first {
                '#' => self.at += rest.find('\n').unwrap_or(rest.len()),
                '[' => {
                    self.at += 1;
                    return Ok(Some(Token::Open));
                }
                ']' => {
                    self.at += 1;
                    return Ok(Some(Token::Close));
                }
                '"' => {
                    let end = rest[1..].find('"').ok_or("a string without its closing quote")?;
                    self.at += end + 2;
                    return Ok(Some(Token::Value(Value::Word(unescape(&rest[1..=end])))));
                }
                _ => {
                    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '"'));
                    let word = &rest[..end.unwrap_or(rest.len())];
                    self.at += word.len();
                    return token(word).map(Some);
                }
            }
        }
    }
}

fn token(word: &str) -> Result<Token<'_>, String> {
    if let Some(x) = integer(word.as_bytes()) {
        return Ok(Token::Value(Value::Integer(x)));
    }
    if word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && !matches!(word, "NAN" | "NaN" | "INF")
    {
        return Ok(Token::Key(word));
    }
    match word.parse::<f64>() {
        Ok(x) => Ok(Token::Value(Value::Real(x))),
        Err(_) => Err(format!("neither a key nor a value: {}", show(word.as_bytes()))),
    }
}

/// A string with its entities (`&#233;`, `&quot;`) resolved; one that is unknown stays as it is.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        match after.split_once(';').and_then(|(entity, after)| Some((xml::character(entity)?, after))) {
            Some((c, after)) => {
                out.push(c);
                rest = after;
            }
            None => {
                out.push('&');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

struct Reader<'a> {
    tokens: Tokens<'a>,
    max_nodes: u64,
}

/// Brackets may be nested this deep.
const DEEPEST: usize = 64;

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Vec<Raw>, String> {
        let mut graphs = Vec::new();
        while let Some(token) = self.tokens.next()? {
            let Token::Key(key) = token else { return Err("a value without a key".into()) };
            match (key, self.tokens.next()?) {
                ("graph", Some(Token::Open)) => graphs.push(self.graph()?),
                (_, Some(Token::Open)) => self.skip()?,
                (_, Some(Token::Value(_))) => {}
                (key, _) => return Err(format!("the key {} without a value", show(key.as_bytes()))),
            }
        }
        Ok(graphs)
    }

    /// Passes over what is in brackets.
    fn skip(&mut self) -> Result<(), String> {
        let mut depth = 1;
        while depth > 0 {
            match self.tokens.next()? {
                Some(Token::Open) if depth == DEEPEST => {
                    return Err(format!("brackets nested deeper than {DEEPEST}"));
                }
                Some(Token::Open) => depth += 1,
                Some(Token::Close) => depth -= 1,
                Some(_) => {}
                None => return Err("the file ends before a closing bracket".into()),
            }
        }
        Ok(())
    }

    fn graph(&mut self) -> Result<Raw, String> {
        let mut raw = Raw::default();
        let mut nodes = Nodes::new(self.max_nodes);
        // Edges may come before their nodes.
        let mut ends: Vec<(String, String)> = Vec::new();
        loop {
            let key = match self.tokens.next()? {
                Some(Token::Close) => break,
                Some(Token::Key(key)) => key,
                Some(_) => return Err("a value without a key".into()),
                None => return Err("the file ends before a closing bracket".into()),
            };
            match (key, self.tokens.next()?) {
                ("node", Some(Token::Open)) => {
                    let mut row = self.entries()?;
                    let id = take(&mut row, "id").ok_or("a node without an id")?;
                    row.retain(|(name, _)| name != "label");
                    nodes.add(&id)?;
                    raw.node_table.add(row).map_err(|m| format!("node {id}: {m}"))?;
                }
                ("edge", Some(Token::Open)) => {
                    let mut row = self.entries()?;
                    let source = take(&mut row, "source").ok_or("an edge without a source")?;
                    let target = take(&mut row, "target").ok_or("an edge without a target")?;
                    // The number of a parallel edge.
                    row.retain(|(name, _)| name != "key");
                    raw.edge_table.add(row).map_err(|m| format!("edge {source} {target}: {m}"))?;
                    ends.push((source, target));
                }
                ("directed", Some(Token::Value(Value::Integer(x)))) => raw.directed = x != 0,
                (_, Some(Token::Open)) => self.skip()?,
                (_, Some(Token::Value(_))) => {}
                (key, _) => return Err(format!("the key {} without a value", show(key.as_bytes()))),
            }
        }
        for (source, target) in &ends {
            raw.edges.push((nodes.find(source)?, nodes.find(target)?));
        }
        raw.nodes = nodes.len();
        Ok(raw)
    }

    /// The keys and values of a node or an edge.
    fn entries(&mut self) -> Result<Vec<(String, Value)>, String> {
        let mut row = Vec::new();
        loop {
            let key = match self.tokens.next()? {
                Some(Token::Close) => return Ok(row),
                Some(Token::Key(key)) => key,
                Some(_) => return Err("a value without a key".into()),
                None => return Err("the file ends before a closing bracket".into()),
            };
            match self.tokens.next()? {
                Some(Token::Value(value)) => row.push((key.to_string(), value)),
                Some(Token::Open) => self.skip()?,
                _ => return Err(format!("the key {} without a value", show(key.as_bytes()))),
            }
        }
    }
}

/// Takes the value of a key out of a row, as text.
fn take(row: &mut Vec<(String, Value)>, key: &str) -> Option<String> {
    let place = row.iter().position(|(name, _)| name == key)?;
    Some(match row.remove(place).1 {
        Value::Integer(x) => x.to_string(),
        Value::Real(x) => x.to_string(),
        Value::Word(word) => word,
    })
}
