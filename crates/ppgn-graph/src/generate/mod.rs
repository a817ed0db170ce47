//! Graphs out of nothing: named families wherever a path to a file can stand.
//!
//! A tool that measures expressiveness needs graphs whose answers are known before it looks: pairs that 1-WL cannot
//! part, strongly regular graphs that 2-FWL cannot, families that grow. A spec is `name` or `name:key=value,...`;
//! this file holds the registry, `spec` reads the words, `rows` guards sizes, and every family has a file that keeps
//! its parameters beside its code. `docs/generators.md` is the table for people.
//!
//! Everything is a function of the spec: the random families draw from [`Stream`]s, so a spec
//! means the same graphs on every machine. A dataset's provenance is the spec with all defaults filled in.

mod cfi;
mod csl;
mod families;
mod figure1;
mod gnp;
mod paley;
mod regular;
mod rows;
mod spec;
mod strongly_regular;
mod tree;

use crate::dataset::{Dataset, Provenance};
use crate::error::{Error, Result};
use crate::format::lines::show;
use crate::graph::Graph;
use crate::random::Stream;
use rows::{MAX_GRAPHS, check_size};
use spec::{Arguments, hint};

/// A family of graphs that can be asked for by name.
#[derive(Debug, Clone, Copy)]
pub struct Generator {
    /// What it is called, as in `cycles:n=6`.
    pub name: &'static str,
    /// One line: what it is and what it is good for.
    pub about: &'static str,
    /// What can be set, in the order of the provenance.
    pub parameters: &'static [Parameter],
    make: fn(&Arguments) -> Result<Made>,
}

/// Something that can be set on a [`Generator`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// The key, as in `n=6`.
    pub name: &'static str,
    /// Its value where none is given; "" where one must be.
    pub default: &'static str,
    /// One line: what it means and what it can be.
    pub about: &'static str,
}

impl Parameter {
    const fn new(name: &'static str, default: &'static str, about: &'static str) -> Self {
        Parameter { name, default, about }
    }
}

const COUNT: Parameter = Parameter::new("count", "1", "how many graphs, at most 1000000");
const SEED: Parameter = Parameter::new("seed", "0", "the random seed, a whole number");

/// What a generator makes: graphs, and classes where they are there to be told apart.
struct Made {
    graphs: Vec<Graph>,
    labels: Option<Vec<i64>>,
}

impl Made {
    /// Two graphs that are to be told apart: classes 0 and 1.
    fn pair(first: Graph, second: Graph) -> Self {
        Made { graphs: vec![first, second], labels: Some(vec![0, 1]) }
    }

    /// `count` random graphs of at most this size each, graph i from the stream of (seed, generator, i).
    fn random(
        arguments: &Arguments,
        (nodes, arcs): (u64, u64),
        one: impl Fn(&mut Stream) -> Result<Graph>,
    ) -> Result<Self> {
        let count = arguments.number("count", 1..=MAX_GRAPHS)?;
        let seed = arguments.seed()?;
        check_size(count.into(), nodes, arcs)?;
        let purpose = format!("generate/{}", arguments.generator().name);
        let graphs = (0..u64::from(count)).map(|i| one(&mut Stream::new(seed, &purpose, &[i])));
        Ok(Made { graphs: graphs.collect::<Result<_>>()?, labels: None })
    }
}

impl From<Graph> for Made {
    fn from(graph: Graph) -> Self {
        Made { graphs: vec![graph], labels: None }
    }
}

static GENERATORS: [Generator; 19] = [
    csl::CSL,
    cfi::CFI,
    figure1::FIGURE1,
    strongly_regular::ROOK,
    strongly_regular::SHRIKHANDE,
    paley::PALEY,
    strongly_regular::PETERSEN,
    families::CYCLES,
    families::PATH,
    families::STAR,
    families::GRID,
    families::COMPLETE,
    families::BIPARTITE,
    families::CIRCULANT,
    families::PRISM,
    families::HYPERCUBE,
    tree::TREE,
    gnp::GNP,
    regular::REGULAR,
];

/// All generators.
///
/// ```
/// use ppgn_graph::generate::{generate, generators};
/// for generator in generators() {
///     assert_eq!(generate(generator.name)?.name(), generator.name);   // all defaults
/// }
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn generators() -> &'static [Generator] {
    &GENERATORS
}

/// The generator of this name, case ignored.
///
/// ```
/// use ppgn_graph::generate::find;
/// assert_eq!(find("CSL").unwrap().parameters[0].default, "41");
/// assert!(find("MUTAG").is_none());
/// ```
pub fn find(name: &str) -> Option<&'static Generator> {
    GENERATORS.iter().find(|g| g.name.eq_ignore_ascii_case(name))
}

/// The dataset of a spec, `name` or `name:key=value,...`. Names and keys ignore case.
///
/// What cannot be is an [`Error::Call`] that says what can: an unknown name or key, a key given twice, a value out of
/// range, more than 2^27 nodes or 2^32 - 1 arcs in all. Sizes are checked before memory is asked for.
///
/// ```
/// use ppgn_graph::generate::generate;
/// let two_triangles = generate("cycles:n=3,copies=2")?;
/// assert_eq!((two_triangles.graph(0).nodes(), two_triangles.graph(0).edges()), (6, 6));
///
/// let pair = generate("cfi:base=k4")?;                        // the untwisted graph, then the twisted one
/// assert_eq!((pair.len(), pair.graph(0).nodes()), (2, 16));
/// assert_eq!(pair.header().provenance.source, "cfi:base=k4,twisted=both,node=0,colours=0");
///
/// let error = generate("cyles:n=6").unwrap_err();
/// assert!(error.to_string().starts_with("there is no generator `cyles`, did you mean `cycles`?"));
/// # Ok::<(), ppgn_graph::Error>(())
/// ```
pub fn generate(spec: &str) -> Result<Dataset> {
    let (name, settings) = match spec.split_once(':') {
        Some((name, settings)) => (name.trim(), Some(settings)),
        None => (spec.trim(), None),
    };
    let Some(generator) = find(name) else {
        let names: Vec<_> = GENERATORS.iter().map(|g| g.name).collect();
        let hint = hint(name, names.iter().copied());
        let shown = show(name.as_bytes());
        return Err(Error::call(format!(
            "there is no generator {shown}{hint} There are {}",
            names.join(", ")
        )));
    };
    let made = Arguments::parse(generator, settings).and_then(|arguments| {
        let made = (generator.make)(&arguments)?;
        Ok((made, arguments.spec()))
    });
    let (made, source) = made.map_err(|error| match error {
        Error::Call(message) => Error::Call(format!("{}: {message}", generator.name)),
        other => other,
    })?;
    let provenance = Provenance { source, format: "generator".into(), notes: Vec::new() };
    let builder = Dataset::builder(generator.name).graphs(made.graphs).provenance(provenance);
    match made.labels {
        Some(labels) => builder.labels(labels).build(),
        None => builder.build(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(spec: &str) -> String {
        let error = generate(spec).unwrap_err();
        assert!(error.is_call(), "{spec}: {error}");
        error.to_string()
    }

    #[test]
    fn provenance_is_a_spec_of_the_same_dataset() {
        for generator in generators() {
            let dataset = generate(generator.name).unwrap();
            let provenance = &dataset.header().provenance;
            assert_eq!(provenance.format, "generator");
            for parameter in generator.parameters {
                assert!(!parameter.default.is_empty(), "{}: the bare name must work", generator.name);
                let setting = format!("{}={}", parameter.name, parameter.default);
                assert!(provenance.source.contains(&setting), "{}", provenance.source);
            }
            assert_eq!(generate(&provenance.source).unwrap(), dataset);
            assert_eq!(generate(&generator.name.to_uppercase()).unwrap(), dataset);
        }
        let given = generate(" Grid : COLUMNS = 2 , rows=3 ").unwrap();
        assert_eq!(given.header().provenance.source, "grid:rows=3,columns=2");
    }

    #[test]
    fn names_are_unique_and_documented() {
        for (i, generator) in GENERATORS.iter().enumerate() {
            assert!(GENERATORS[..i].iter().all(|g| g.name != generator.name));
            assert!(!generator.about.is_empty() && !generator.about.contains('\n'));
            for (j, parameter) in generator.parameters.iter().enumerate() {
                assert!(generator.parameters[..j].iter().all(|p| p.name != parameter.name));
                assert!(!parameter.about.is_empty());
            }
        }
    }

    #[test]
    fn wrong_calls_say_what_is_allowed() {
        assert_eq!(
            refused("gird"),
            "there is no generator `gird`, did you mean `grid`? There are csl, cfi, figure1, rook, shrikhande, \
             paley, petersen, cycles, path, star, grid, complete, bipartite, circulant, prism, hypercube, tree, \
             gnp, regular"
        );
        assert!(refused("cube").contains("did you mean `hypercube`?"));
        assert!(refused("\u{1b}[31m").starts_with("there is no generator `\\x1b[31m`."));
        assert!(refused("").starts_with("there is no generator ``."));
        assert_eq!(refused("grid:rows=0"), "grid: rows is a whole number from 1 to 134217728, not `0`");
        assert_eq!(refused("gnp:p=1.5"), "gnp: p is a number from 0 to 1, not `1.5`");
        assert_eq!(refused("gnp:p=nan"), "gnp: p is a number from 0 to 1, not `nan`");
        assert_eq!(refused("gnp:directed=yes"), "gnp: directed is 0 or 1, not `yes`");
        assert_eq!(
            refused("tree:seed=-1"),
            "tree: seed is a whole number from 0 to 18446744073709551615, not `-1`"
        );
        assert_eq!(
            refused("grid:column=3"),
            "grid: there is no parameter `column`, did you mean `columns`? There are rows=4, columns=4"
        );
        assert_eq!(refused("shrikhande:n=4"), "shrikhande: there is no parameter `n`. There are none");
        assert_eq!(refused("path:n=3,N=4"), "path: n is given twice");
        assert_eq!(refused("path:7"), "path: `7` is not key=value. There are n=8");
        assert_eq!(refused("path:"), "path: `` is not key=value. There are n=8");
        assert_eq!(refused("path:n=3,"), "path: `` is not key=value. There are n=8");
        assert_eq!(refused("path:n="), "path: n is a whole number from 1 to 134217728, not ``");
    }

    #[test]
    fn sizes_are_refused_before_memory_is_asked_for() {
        let nodes = "nodes are too many, a generator makes at most 134217728";
        assert_eq!(refused("grid:rows=100000,columns=100000"), format!("grid: 10000000000 {nodes}"));
        assert_eq!(
            refused("cycles:n=134217728,copies=134217728"),
            format!("cycles: 18014398509481984 {nodes}")
        );
        assert_eq!(refused("tree:n=1000,count=1000000"), format!("tree: 1000000000 {nodes}"));
        assert_eq!(refused("star:n=134217728"), format!("star: 134217729 {nodes}"));
        assert_eq!(refused("cfi:base=s29"), format!("cfi: 268435485 {nodes}"));
        assert_eq!(refused("rook:n=134217728"), format!("rook: 18014398509481984 {nodes}"));
        for spec in [
            "complete:n=100000",
            "bipartite:a=100000,b=100000",
            "rook:n=2000",
            "paley:q=92693",
            "gnp:n=134217728,p=1",
            "gnp:n=100,p=1,directed=1,count=1000000",
            "regular:n=134217728,d=134217727",
            "circulant:n=134217728,skips=1+2+3+4+5+6+7+8+9+10+11+12+13+14+15+16+17",
            "cfi:base=k24",
        ] {
            assert!(
                refused(spec).contains("arcs are too many, a generator makes at most 4294967295"),
                "{spec}"
            );
        }
    }
}
