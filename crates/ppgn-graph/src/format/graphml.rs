//! GraphML: XML with `<key>`s that name and type the attributes, `<node>`s and `<edge>`s, as NetworkX, igraph and yEd
//! write it. A file may hold several graphs. Ports, hyperedges and nested graphs have no place in ppgn and are refused;
//! what yEd adds for drawing (`yfiles.type`) is skipped.

use super::attributes::Value;
use super::collect::Raw;
use super::lines::{integer, real, show};
use super::nodes::Nodes;
use super::xml::{Piece, Xml};
use super::{Entry, Report, Source};
use crate::error::{Defect, Result};
use std::borrow::Cow;
use std::collections::HashMap;

/// The graphs of a file.
pub(super) fn read(source: &Source, entry: &Entry, _report: &mut Report) -> Result<Vec<Raw>> {
    let text = source.text(entry)?;
    let mut reader = Reader {
        xml: Xml::new(&text),
        keys: HashMap::new(),
        graphs: Vec::new(),
        max_nodes: source.limits().max_nodes,
    };
    match reader.document() {
        Ok(()) if reader.graphs.is_empty() => {
            Err(Defect::new(source.describe(entry), "no graph in it").into())
        }
        Ok(()) => Ok(reader.graphs),
        Err(message) => Err(Defect::new(source.describe(entry), message).line(reader.xml.line()).into()),
    }
}

/// What a `<key>` declares.
struct Key {
    of_nodes: bool,
    of_edges: bool,
    name: String,
    kind: Kind,
    default: Option<Value>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Boolean,
    Integer,
    Real,
    Word,
    /// Nothing that ppgn has a place for.
    Skipped,
}

struct Reader<'a> {
    xml: Xml<'a>,
    keys: HashMap<String, Key>,
    graphs: Vec<Raw>,
    max_nodes: u64,
}

type Attributes<'a> = Vec<(&'a str, Cow<'a, str>)>;

fn find<'b>(attributes: &'b Attributes<'_>, name: &str) -> Option<&'b str> {
    attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_ref())
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<(), String> {
        match self.xml.next()? {
            Some(Piece::Start("graphml", _)) => {}
            _ => return Err("not GraphML: its first element must be <graphml>".into()),
        }
        while let Some(piece) = self.xml.next()? {
            match piece {
                Piece::Start("key", attributes) => self.key(&attributes)?,
                Piece::Start("graph", attributes) => self.graph(&attributes)?,
                Piece::Start(name, _) => self.skip(name)?,
                Piece::End(_) | Piece::Text(_) => {}
            }
        }
        Ok(())
    }

    /// Passes over the rest of an element.
    fn skip(&mut self, _name: &str) -> Result<(), String> {
        let mut depth = 1;
        while depth > 0 {
            match self.xml.next()? {
                Some(Piece::Start(..)) => depth += 1,
                Some(Piece::End(_)) => depth -= 1,
                Some(Piece::Text(_)) => {}
                None => break,
            }
        }
        Ok(())
    }

    /// The text of an element that has nothing else.
    fn text(&mut self, name: &str) -> Result<String, String> {
        let mut text = String::new();
        loop {
            match self.xml.next()? {
                Some(Piece::Text(piece)) => text.push_str(&piece),
                Some(Piece::End(_)) | None => return Ok(text),
                Some(Piece::Start(inner, _)) => {
                    return Err(format!("<{}> inside of <{name}>", show(inner.as_bytes())));
                }
            }
        }
    }

    fn key(&mut self, attributes: &Attributes<'_>) -> Result<(), String> {
        let id = find(attributes, "id").ok_or("a <key> without an id")?.to_string();
        let of = find(attributes, "for").unwrap_or("all");
        let kind = match find(attributes, "attr.type") {
            Some("boolean") => Kind::Boolean,
            Some("int" | "integer" | "long") => Kind::Integer,
            Some("float" | "double") => Kind::Real,
            Some("string") => Kind::Word,
            Some(other) => {
                return Err(format!("the key `{id}` has the unknown type {}", show(other.as_bytes())));
            }
            // yEd's graphics have no type, and GraphML says that a type is a string where it is absent.
            None if attributes.iter().any(|(name, _)| *name == "yfiles.type") => Kind::Skipped,
            None => Kind::Word,
        };
        let mut key = Key {
            of_nodes: matches!(of, "node" | "all"),
            of_edges: matches!(of, "edge" | "all"),
            name: find(attributes, "attr.name").unwrap_or(&id).to_string(),
            kind,
            default: None,
        };
        loop {
            match self.xml.next()? {
                Some(Piece::Start("default", _)) => {
                    let text = self.text("default")?;
                    key.default = Some(value(&text, kind, &key.name)?);
                }
                Some(Piece::Start(name, _)) => self.skip(name)?,
                Some(Piece::Text(_)) => {}
                Some(Piece::End(_)) | None => break,
            }
        }
        match self.keys.insert(id.clone(), key) {
            None => Ok(()),
            Some(_) => Err(format!("two keys have the id {}", show(id.as_bytes()))),
        }
    }

    fn graph(&mut self, attributes: &Attributes<'_>) -> Result<(), String> {
        let directed = match find(attributes, "edgedefault") {
            Some("directed") => true,
            Some("undirected") | None => false,
            Some(other) => {
                return Err(format!(
                    "edgedefault must be directed or undirected, not {}",
                    show(other.as_bytes())
                ));
            }
        };
        let mut raw = Raw { directed, id: None, ..Raw::default() };
        let mut nodes = Nodes::new(self.max_nodes);
        loop {
            match self.xml.next()? {
                Some(Piece::Start("node", attributes)) => {
                    let id = find(&attributes, "id").ok_or("a <node> without an id")?;
                    nodes.add(id)?;
                    let row = self.data("node")?;
                    raw.node_table.add(row).map_err(|m| format!("node {}: {m}", show(id.as_bytes())))?;
                }
                Some(Piece::Start("edge", attributes)) => {
                    let end =
                        |name: &str| find(&attributes, name).ok_or(format!("an <edge> without a {name}"));
                    let (source, target) = (end("source")?.to_string(), end("target")?.to_string());
                    match find(&attributes, "directed") {
                        Some(word) if (word == "true") != directed => {
                            return Err("directed and undirected edges in one graph".into());
                        }
                        _ => {}
                    }
                    let row = self.data("edge")?;
                    raw.edges.push((nodes.find(&source)?, nodes.find(&target)?));
                    let shown = || format!("edge {} {}", show(source.as_bytes()), show(target.as_bytes()));
                    raw.edge_table.add(row).map_err(|m| format!("{}: {m}", shown()))?;
                }
                Some(Piece::Start("hyperedge", _)) => return Err("a hyperedge: edges have two ends".into()),
                Some(Piece::Start(name, _)) => self.skip(name)?,
                Some(Piece::Text(_)) => {}
                Some(Piece::End(_)) | None => break,
            }
        }
        raw.nodes = nodes.len();
        self.graphs.push(raw);
        Ok(())
    }

    /// The attributes of a node or an edge, up to its end: those that it gives, else their defaults.
    fn data(&mut self, of: &str) -> Result<Vec<(String, Value)>, String> {
        let mut row: Vec<(String, Value)> = Vec::new();
        loop {
            match self.xml.next()? {
                Some(Piece::Start("data", attributes)) => {
                    let id = find(&attributes, "key").ok_or("<data> without a key")?;
                    let key = self
                        .keys
                        .get(id)
                        .ok_or_else(|| format!("the key {} is not declared", show(id.as_bytes())))?;
                    if key.kind == Kind::Skipped {
                        self.skip("data")?;
                        continue;
                    }
                    let (name, kind) = (key.name.clone(), key.kind);
                    let text = self.text("data")?;
                    row.push((name.clone(), value(&text, kind, &name)?));
                }
                Some(Piece::Start("graph", _)) => return Err("a graph inside of a graph".into()),
                Some(Piece::Start(name, _)) => self.skip(name)?,
                Some(Piece::Text(_)) => {}
                Some(Piece::End(_)) | None => break,
            }
        }
        let mut defaults: Vec<(&String, &Key)> =
            self.keys.iter().filter(|(_, key)| key.default.is_some()).collect();
        defaults.sort_by_key(|(id, _)| *id);
        for (_, key) in defaults {
            let applies = if of == "node" { key.of_nodes } else { key.of_edges };
            if applies && !row.iter().any(|(name, _)| *name == key.name) {
                row.extend(key.default.clone().map(|value| (key.name.clone(), value)));
            }
        }
        Ok(row)
    }
}

fn value(text: &str, kind: Kind, name: &str) -> Result<Value, String> {
    let token = text.trim();
    let wrong =
        |what: &str| format!("the attribute `{name}` is {}, which is not {what}", show(token.as_bytes()));
    match kind {
        Kind::Word | Kind::Skipped => Ok(Value::Word(text.to_string())),
        Kind::Boolean => match token.to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(Value::Integer(1)),
            "false" | "0" => Ok(Value::Integer(0)),
            _ => Err(wrong("true or false")),
        },
        Kind::Integer => integer(token.as_bytes()).map(Value::Integer).ok_or_else(|| wrong("an integer")),
        Kind::Real => real(token.as_bytes()).map(Value::Real).ok_or_else(|| wrong("a finite number")),
    }
}
