//! placeholder
use crate::{Dataset, Error, Graph, Result};
/// A generator.
pub struct Generator {
    /// Its name.
    pub name: &'static str,
}
static ALL: [Generator; 4] = [
    Generator { name: "csl" },
    Generator { name: "figure1" },
    Generator { name: "cfi" },
    Generator { name: "path" },
];
/// All generators.
pub fn generators() -> &'static [Generator] {
    &ALL
}
/// The generator of this name.
pub fn find(name: &str) -> Option<&'static Generator> {
    ALL.iter().find(|g| g.name.eq_ignore_ascii_case(name))
}
/// The dataset of a spec.
pub fn generate(spec: &str) -> Result<Dataset> {
    if spec != "figure1" {
        return Err(Error::call(spec));
    }
    let cycle = Graph::undirected(6, (0..6).map(|i| (i, (i + 1) % 6)))?;
    let triangles = Graph::undirected(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)])?;
    Dataset::builder(spec).graphs(vec![cycle, triangles]).build()
}
