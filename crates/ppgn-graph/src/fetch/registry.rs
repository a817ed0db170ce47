//! The datasets that ppgn can download: where each one lives, how long it is and what it hashes to.
//!
//! Public homes move. So every file has several addresses where several are known, the hash decides whether what came
//! is the right thing wherever it came from, and `by_hand` says what to do when none answers.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A dataset that can be downloaded.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Known {
    /// Its name, as in `ppgn data get NAME`.
    pub name: String,
    /// Other names that people know it by.
    pub aliases: Vec<String>,
    /// A one-line description.
    pub about: String,
    /// Who made it and who hosts it, with the licence where one is stated.
    pub source: String,
    /// The file that holds the data.
    pub file: Remote,
    /// Files that belong beside it; the data can be read without them.
    pub beside: Vec<Remote>,
    /// How else to get it, without a network or after every address has died.
    pub by_hand: String,
}

/// A file at its public homes.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Remote {
    /// Where it goes in the data folder, with `/` between folders: `tu/MUTAG.zip`.
    pub place: String,
    /// Its addresses, tried in this order.
    pub urls: Vec<String>,
    /// Its length in bytes, where known.
    pub bytes: Option<u64>,
    /// Its SHA-256 in lower-case hexadecimal, where known.
    pub sha256: Option<String>,
}

impl Remote {
    /// The file's own name: `MUTAG.zip`.
    pub fn file_name(&self) -> &str {
        self.place.rsplit('/').next().unwrap_or(&self.place)
    }

    /// Where the file goes in this data folder.
    pub fn target(&self, data_dir: &Path) -> PathBuf {
        self.place.split('/').fold(data_dir.to_path_buf(), |path, part| path.join(part))
    }
}

/// The eight sets of the paper: name, length and SHA-256 of the zip, what it is.
const PAPER: [(&str, u64, &str, &str); 8] = [
    (
        "MUTAG",
        12_363,
        "545905a7f0782cba6d3f96cb40af67c90e54f26932341999103e1eb94bbbee52",
        "188 nitroaromatic compounds, mutagenic or not",
    ),
    (
        "PTC",
        29_372,
        "2451966c2cc84663b0cf0021fce8cb6f2b5fccfb471544c2f75ac7c27d21c013",
        "344 compounds, carcinogenic for male rats or not",
    ),
    (
        "PROTEINS",
        217_194,
        "d28f022559a1fe3f3c0cfd49c96a68a8cb8a1d1e31d5506fb7d93e438eab6f52",
        "1113 proteins, enzymes or not",
    ),
    (
        "NCI1",
        391_519,
        "8cd032542f59df715c5983b05bb2b5396ab501c3b41d4ecbd941b88dc40c8c59",
        "4110 compounds, active against lung cancer cells or not",
    ),
    (
        "NCI109",
        393_094,
        "773b6dfa9b31eb0e07753991b87b64c278aa827bcea1f2dea72ab30e523bfcfa",
        "4127 compounds, active against ovarian cancer cells or not",
    ),
    (
        "COLLAB",
        4_164_412,
        "9ecf84c958ac765b9e0f878f4bd002fec20926e0c3d037cb753ab251f59b41f3",
        "5000 ego networks of researchers from three fields of physics",
    ),
    (
        "IMDBBINARY",
        107_488,
        "0424af4414007a76bd0d7d9f8e7ba845f595745d142894cf42b505b30f5ff7d8",
        "1000 ego networks of actors, action or romance",
    ),
    (
        "IMDBMULTI",
        94_934,
        "20caee26511d0e5ed130bcb1054b2697b91cc8bb846c72cf0f37a92f99bfc67b",
        "1500 ego networks of actors, comedy, romance or science fiction",
    ),
];

/// Everything that [`get`](super::get) can download.
///
/// ```
/// let names: Vec<_> = ppgn_graph::fetch::known().iter().map(|k| k.name.as_str()).collect();
/// assert_eq!(names.len(), 10);
/// assert!(names.contains(&"MUTAG") && names.contains(&"QM9"));
/// ```
pub fn known() -> &'static [Known] {
    static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
        let mut all: Vec<Known> = PAPER.iter().map(paper).collect();
        all.extend([enzymes(), qm9()]);
        all
    });
    &KNOWN
}

/// The other sets of TUDataset, by the names that its home gives them. Their lengths and hashes are not known before the
/// first download, which records them (`downloads.sha256`).
///
/// ```
/// assert!(ppgn_graph::fetch::collection().iter().any(|k| k.name == "AIDS"));
/// ```
pub fn collection() -> &'static [Known] {
    static COLLECTION: LazyLock<Vec<Known>> = LazyLock::new(|| {
        let tox21 = TOX21.iter().flat_map(|assay| {
            ["training", "testing", "evaluation"].map(|part| format!("Tox21_{assay}_{part}"))
        });
        let names = TU.iter().map(|name| name.to_string()).chain(tox21);
        names.map(|name| tu(&name, "a set of TUDataset")).collect()
    });
    &COLLECTION
}

/// The sets of TUDataset that are not listed above.
const TU: [&str; 91] = [
    "AIDS",
    "alchemy_full",
    "aspirin",
    "benzene",
    "BZR",
    "BZR_MD",
    "COX2",
    "COX2_MD",
    "DHFR",
    "DHFR_MD",
    "ER_MD",
    "ethanol",
    "FRANKENSTEIN",
    "malonaldehyde",
    "MCF-7",
    "MCF-7H",
    "MOLT-4",
    "MOLT-4H",
    "Mutagenicity",
    "naphthalene",
    "NCI-H23",
    "NCI-H23H",
    "OVCAR-8",
    "OVCAR-8H",
    "P388",
    "P388H",
    "PC-3",
    "PC-3H",
    "PTC_FM",
    "PTC_FR",
    "PTC_MM",
    "PTC_MR",
    "salicylic_acid",
    "SF-295",
    "SF-295H",
    "SN12C",
    "SN12CH",
    "SW-620",
    "SW-620H",
    "toluene",
    "UACC257",
    "UACC257H",
    "uracil",
    "Yeast",
    "YeastH",
    "ZINC_full",
    "ZINC_test",
    "ZINC_train",
    "ZINC_val",
    "DD",
    "KKI",
    "OHSU",
    "Peking_1",
    "PROTEINS_full",
    "COIL-DEL",
    "COIL-RAG",
    "Cuneiform",
    "Fingerprint",
    "FIRSTMM_DB",
    "Letter-high",
    "Letter-low",
    "Letter-med",
    "MSRC_9",
    "MSRC_21",
    "MSRC_21C",
    "dblp_ct1",
    "dblp_ct2",
    "DBLP_v1",
    "deezer_ego_nets",
    "facebook_ct1",
    "facebook_ct2",
    "github_stargazers",
    "highschool_ct1",
    "highschool_ct2",
    "infectious_ct1",
    "infectious_ct2",
    "mit_ct1",
    "mit_ct2",
    "REDDIT-BINARY",
    "REDDIT-MULTI-5K",
    "REDDIT-MULTI-12K",
    "reddit_threads",
    "tumblr_ct1",
    "tumblr_ct2",
    "twitch_egos",
    "TWITTER-Real-Graph-Partial",
    "COLORS-3",
    "SYNTHETIC",
    "SYNTHETICnew",
    "Synthie",
    "TRIANGLES",
];

/// The assays of the Tox21 challenge, each of which is three sets.
const TOX21: [&str; 12] =
    ["AhR", "AR", "AR-LBD", "ARE", "aromatase", "ATAD5", "ER", "ER-LBD", "HSE", "MMP", "p53", "PPAR-gamma"];

/// The dataset of this name or alias, case ignored.
///
/// ```
/// assert_eq!(ppgn_graph::fetch::find("imdb-binary").unwrap().file.place, "tu/IMDBBINARY.zip");
/// assert!(ppgn_graph::fetch::find("no such set").is_none());
/// ```
pub fn find(name: &str) -> Option<&'static Known> {
    known()
        .iter()
        .chain(collection())
        .find(|k| std::iter::once(&k.name).chain(&k.aliases).any(|n| n.eq_ignore_ascii_case(name)))
}

fn paper(&(name, bytes, sha256, about): &(&str, u64, &str, &str)) -> Known {
    // The zips were packed for IHGNN from the text files of pytorch_DGCNN. A commit, not a branch: it cannot change.
    let urls = vec![
        format!(
            "https://raw.githubusercontent.com/yeweiysh/IHGNN/dcb2c23cdc06f3ed8cc1dd0f0dced9ddd9156bad/data/{name}.zip"
        ),
        format!("https://raw.githubusercontent.com/muhanzhang/pytorch_DGCNN/master/data/{name}.zip"),
    ];
    let aliases: &[&str] = match name {
        "IMDBBINARY" => &["IMDB-BINARY", "IMDB-B"],
        "IMDBMULTI" => &["IMDB-MULTI", "IMDB-M"],
        _ => &[],
    };
    Known {
        name: name.into(),
        aliases: aliases.iter().map(|a| a.to_string()).collect(),
        about: format!("{about}; with the paper's ten folds"),
        source: "github.com/muhanzhang/pytorch_DGCNN (MIT), packed in github.com/yeweiysh/IHGNN (MIT)".into(),
        file: Remote {
            place: format!("tu/{name}.zip"),
            urls,
            bytes: Some(bytes),
            sha256: Some(sha256.into()),
        },
        beside: Vec::new(),
        by_hand: format!(
            "the folder data/{name} of https://github.com/muhanzhang/pytorch_DGCNN, put at tu/{name}, works too"
        ),
    }
}

fn enzymes() -> Known {
    tu("ENZYMES", "600 protein structures, six classes of enzymes, with node attributes")
}

/// A set at the home of TUDataset.
fn tu(name: &str, about: &str) -> Known {
    Known {
        name: name.into(),
        aliases: Vec::new(),
        about: about.into(),
        source: "TUDataset, https://chrsmrrs.github.io/datasets".into(),
        file: Remote {
            place: format!("tu/{name}.zip"),
            urls: vec![
                format!("https://www.chrsmrrs.com/graphkerneldatasets/{name}.zip"),
                format!("https://ls11-www.cs.tu-dortmund.de/people/morris/graphkerneldatasets/{name}.zip"),
            ],
            bytes: None,
            sha256: None,
        },
        beside: Vec::new(),
        by_hand: format!("its files {name}_A.txt and so on, unpacked at tu/{name}, work too"),
    }
}

fn qm9() -> Known {
    let list = "files/3195404";
    Known {
        name: "QM9".into(),
        aliases: vec!["gdb9".into()],
        about: "133,885 small organic molecules with 12 quantum-chemical targets".into(),
        source: "Ramakrishnan et al. 2014 (CC0), as SDF by MoleculeNet".into(),
        file: Remote {
            place: "qm9/qm9.zip".into(),
            urls: vec![
                "https://deepchemdata.s3-us-west-1.amazonaws.com/datasets/molnet_publish/qm9.zip".into(),
                "https://s3-us-west-1.amazonaws.com/deepchem.io/datasets/molnet_publish/qm9.zip".into(),
            ],
            bytes: None,
            sha256: None,
        },
        // The 3,054 molecules whose geometry could not be confirmed, which everyone leaves out.
        beside: vec![Remote {
            place: "qm9/uncharacterized.txt".into(),
            urls: vec![
                format!("https://ndownloader.figshare.com/{list}"),
                format!("https://springernature.figshare.com/ndownloader/{list}"),
            ],
            bytes: None,
            sha256: None,
        }],
        by_hand: "gdb9.sdf and gdb9.sdf.csv, unpacked at qm9/, work too".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_well_formed() {
        let mut names = std::collections::BTreeSet::new();
        for k in known().iter().chain(collection()) {
            for name in std::iter::once(&k.name).chain(&k.aliases) {
                assert!(names.insert(name.to_ascii_lowercase()), "{name} twice");
                assert_eq!(find(&name.to_ascii_lowercase()), Some(k));
            }
            for file in std::iter::once(&k.file).chain(&k.beside) {
                assert!(
                    !file.urls.is_empty() && file.urls.iter().all(|u| u.starts_with("https://")),
                    "{}",
                    k.name
                );
                assert!(
                    file.place.split('/').all(|p| !p.is_empty() && !p.starts_with('.')),
                    "{}",
                    file.place
                );
                let hex = |s: &String| s.len() == 64 && s.bytes().all(|b| b"0123456789abcdef".contains(&b));
                assert!(file.sha256.as_ref().is_none_or(hex), "{}", file.place);
            }
        }
    }

    #[test]
    fn places_are_folders_and_a_name() {
        let file = &find("mutag").unwrap().file;
        assert_eq!(file.file_name(), "MUTAG.zip");
        assert_eq!(file.target(Path::new("d")), Path::new("d").join("tu").join("MUTAG.zip"));
    }
}
