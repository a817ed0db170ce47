//! As much of XML as GraphML needs: elements with attributes, text, comments, CDATA, the five named entities and numbered
//! characters. Nothing is loaded from elsewhere, and no entities are defined: a document with a DOCTYPE is refused, which
//! rules out every attack by entities. Own code, because it fits on two screens and the crates do much more.

use std::borrow::Cow;

/// A piece of a document.
#[derive(Debug, PartialEq)]
pub(super) enum Piece<'a> {
    /// `<name key="value">`; the second piece of `<name/>` is its end. Names are without their namespace.
    Start(&'a str, Vec<(&'a str, Cow<'a, str>)>),
    /// `</name>`.
    End(&'a str),
    /// What stands between, entities resolved.
    Text(Cow<'a, str>),
}

/// Goes through a document. Elements must be closed in their order.
pub(super) struct Xml<'a> {
    text: &'a str,
    at: usize,
    open: Vec<&'a str>,
    /// The end of an empty element that was just begun.
    ended: bool,
}

/// Elements may be nested this deep.
const DEEPEST: usize = 64;

impl<'a> Xml<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Xml { text: text.strip_prefix('\u{feff}').unwrap_or(text), at: 0, open: Vec::new(), ended: false }
    }

    /// The line of the place that has been reached, from 1.
    pub(super) fn line(&self) -> u64 {
        1 + memchr::memchr_iter(b'\n', &self.text.as_bytes()[..self.at]).count() as u64
    }

    /// The next piece; `None` at the end of the document.
    pub(super) fn next(&mut self) -> Result<Option<Piece<'a>>, String> {
        if std::mem::take(&mut self.ended) {
            return Ok(self.open.pop().map(Piece::End));
        }
        loop {
            let rest = &self.text[self.at..];
            if rest.is_empty() {
                return match self.open.last() {
                    Some(name) => Err(format!("the document ends before </{name}>")),
                    None => Ok(None),
                };
            }
            if !rest.starts_with('<') {
                let end = rest.find('<').unwrap_or(rest.len());
                self.at += end;
                let text = unescape(&rest[..end])?;
                if self.open.is_empty() {
                    match text.trim().is_empty() {
                        true => continue,
                        false => return Err("text outside of the document's element".into()),
                    }
                }
                return Ok(Some(Piece::Text(text)));
            }
            if let Some(comment) = rest.strip_prefix("<!--") {
                self.skip(4 + comment.find("-->").ok_or("a comment without an end")? + 3);
            } else if let Some(data) = rest.strip_prefix("<![CDATA[") {
                let end = data.find("]]>").ok_or("CDATA without an end")?;
                self.skip(9 + end + 3);
                return Ok(Some(Piece::Text(Cow::Borrowed(&data[..end]))));
            } else if rest.starts_with("<?") {
                self.skip(rest.find("?>").ok_or("an instruction without an end")? + 2);
            } else if rest.starts_with("<!") {
                return Err("a DOCTYPE, which ppgn does not read".into());
            } else if let Some(name) = rest.strip_prefix("</") {
                let end = name.find('>').ok_or("a tag without an end")?;
                let name = local(name[..end].trim_end());
                self.skip(2 + end + 1);
                return match self.open.pop() {
                    Some(open) if open == name => Ok(Some(Piece::End(name))),
                    Some(open) => Err(format!("</{}> where </{}> is due", short(name), short(open))),
                    None => Err(format!("</{}> without its beginning", short(name))),
                };
            } else {
                return self.start(rest).map(Some);
            }
        }
    }

    fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// A tag that begins an element.
    fn start(&mut self, tag: &'a str) -> Result<Piece<'a>, String> {
        let bad = || format!("not a tag: {}", short(tag));
        let mut rest = &tag[1..];
        let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).ok_or_else(bad)?;
        let name = local(&rest[..end]);
        rest = rest[end..].trim_start();
        let mut attributes = Vec::new();
        while !rest.starts_with(['>', '/']) {
            let (key, after) = rest.split_once('=').ok_or_else(bad)?;
            let key = key.trim_end();
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| matches!(c, '"' | '\'')).ok_or_else(bad)?;
            let (value, after) = after[1..].split_once(quote).ok_or_else(bad)?;
            if key.is_empty() || key.contains(['<', '>', ' ']) || value.contains('<') {
                return Err(bad());
            }
            attributes.push((local(key), unescape(value)?));
            rest = after.trim_start();
        }
        self.ended = rest.starts_with('/');
        let rest = rest.trim_start_matches('/').strip_prefix('>').ok_or_else(bad)?;
        if name.is_empty() {
            return Err(bad());
        }
        if self.open.len() == DEEPEST {
            return Err(format!("elements nested deeper than {DEEPEST}"));
        }
        self.open.push(name);
        self.at = self.text.len() - rest.len();
        Ok(Piece::Start(name, attributes))
    }
}

/// A name without its namespace.
fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, name)| name)
}

fn short(text: &str) -> String {
    super::lines::show(text.as_bytes())
}

fn unescape(text: &str) -> Result<Cow<'_, str>, String> {
    if !text.contains('&') {
        return Ok(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let (entity, after) = after.split_once(';').ok_or("an & without its ;")?;
        out.push(character(entity).ok_or_else(|| format!("an unknown entity, {}", short(entity)))?);
        rest = after;
    }
    out.push_str(rest);
    Ok(Cow::Owned(out))
}

/// The character that an entity stands for, without its `&` and `;`.
pub(super) fn character(entity: &str) -> Option<char> {
    match entity {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let code = entity.strip_prefix('#')?;
            let code = match code.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => code.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Result<Vec<String>, String> {
        let mut xml = Xml::new(text);
        let mut all = Vec::new();
        while let Some(piece) = xml.next()? {
            all.push(match piece {
                Piece::Start(name, keys) => format!("<{name} {keys:?}"),
                Piece::End(name) => format!("/{name}"),
                Piece::Text(text) => format!("{text:?}"),
            });
        }
        Ok(all)
    }

    #[test]
    fn documents() {
        let text =
            "<?xml version='1.0'?><!-- c > --><g:a x=\"1 &lt; 2\" y = 'z'>t&#233;<b/><![CDATA[<&>]]></g:a>\n";
        let expected = ["<a [(\"x\", \"1 < 2\"), (\"y\", \"z\")]", "\"té\"", "<b []", "/b", "\"<&>\"", "/a"];
        assert_eq!(pieces(text).unwrap(), expected);
        for (text, message) in [
            ("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>", "a DOCTYPE, which ppgn does not read"),
            ("<a><b></a>", "</`a`> where </`b`> is due"),
            ("</a>", "</`a`> without its beginning"),
            ("<a>", "the document ends before </a>"),
            ("<a b=c>", "not a tag"),
            ("<a b='<'>", "not a tag"),
            ("<a", "not a tag"),
            ("<>", "not a tag"),
            ("<a>&nbsp;</a>", "an unknown entity, `nbsp`"),
            ("<a>&#xd800;</a>", "an unknown entity"),
            ("x", "text outside"),
        ] {
            let error = pieces(text).unwrap_err();
            assert!(error.starts_with(message), "{text}: {error}");
        }
        assert!(pieces(&"<a>".repeat(100)).unwrap_err().contains("nested deeper"));
    }
}
