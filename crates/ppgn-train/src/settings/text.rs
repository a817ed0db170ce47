//! Parsers for settings that are written as one word: `32,32,32`, `paper+identity`, `80/10/10`. And numbers as people read them.

use ppgn_graph::encode::{Encoding, Kind};
use ppgn_nn::{BlockConfig, M3};
use serde::de::DeserializeOwned;

/// A value by its name in files, such as `same-size`.
pub fn named<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(text.into()).map_err(|e| e.to_string())
}

/// Widths, separated by commas.
///
/// ```
/// use ppgn_train::text::widths;
/// assert_eq!(widths("512,256"), Ok(vec![512, 256]));
/// assert!(widths("512;256").is_err());
/// ```
pub fn widths(text: &str) -> Result<Vec<usize>, String> {
    let width = |w: &str| w.trim().parse::<usize>().map_err(|_| format!("`{w}` is not a width"));
    text.split(',').map(width).collect()
}

/// Blocks by their widths.
pub fn blocks(text: &str) -> Result<Vec<BlockConfig>, String> {
    Ok(widths(text)?.into_iter().map(BlockConfig::new).collect())
}

/// m3: `identity`, or the widths of an MLP.
pub fn m3(text: &str) -> Result<M3, String> {
    match text {
        "identity" => Ok(M3::Identity),
        _ => widths(text)
            .map(M3::Mlp)
            .map_err(|e| format!("{e}; m3 is identity, or widths separated by commas")),
    }
}

/// An encoding, with additional channels if given: `paper+identity`, `authors+degree+rrwp:8`.
///
/// ```
/// use ppgn_train::text::encoding;
/// let walks = encoding("paper+degree+distance:4+rrwp:8").unwrap().structure;
/// assert_eq!((walks.degree, walks.shortest_paths, walks.walks), (true, 4, 8));
/// assert_eq!(encoding("paper+rrwp").unwrap_err(), "write rrwp:K with K from 1 to 64, such as rrwp:8");
/// ```
pub fn encoding(text: &str) -> Result<Encoding, String> {
    let mut words = text.split('+');
    let kind = words.next().unwrap_or_default().parse::<Kind>().map_err(|e| e.to_string())?;
    let mut encoding = Encoding::from(kind);
    for word in words {
        let (name, count) = word.split_once(':').map_or((word, None), |(name, count)| (name, Some(count)));
        match (name, count) {
            ("identity", None) => encoding.identity = true,
            ("transposed", None) => encoding.transposed = true,
            ("distances", None) => encoding.distances = true,
            ("degree", None) => encoding.structure.degree = true,
            ("distance", _) => encoding.structure.shortest_paths = channels(name, 'D', count)?,
            ("rrwp", _) => encoding.structure.walks = channels(name, 'K', count)?,
            _ => {
                return Err(format!(
                    "`{word}` is not an additional channel; there are identity, transposed, distances, degree, distance:D \
                     and rrwp:K"
                ));
            }
        }
    }
    Ok(encoding)
}

/// The number of channels behind a name: `8` of `rrwp:8`.
fn channels(name: &str, letter: char, count: Option<&str>) -> Result<u8, String> {
    let count = count.and_then(|count| count.parse().ok()).filter(|count| (1..=64).contains(count));
    count.ok_or_else(|| format!("write {name}:{letter} with {letter} from 1 to 64, such as {name}:8"))
}

/// `80/10/10` or `0.8/0.1/0.1`: the shares of training, validation and test set.
///
/// ```
/// use ppgn_train::text::shares;
/// assert_eq!(shares("80/10/10"), Ok([0.8, 0.1, 0.1]));
/// assert!(shares("80/20").is_err());
/// ```
pub fn shares(text: &str) -> Result<[f64; 3], String> {
    let wrong =
        || format!("`{text}` is not a split: write training/validation/test in percent, such as 80/10/10");
    let parts: Vec<f64> =
        text.split('/').map(|p| p.trim().parse::<f64>().map_err(|_| wrong())).collect::<Result<_, _>>()?;
    let parts: [f64; 3] = parts.try_into().map_err(|_| wrong())?;
    let total: f64 = parts.iter().sum();
    let sound = parts.iter().all(|p| p.is_finite() && *p >= 0.0);
    match sound {
        true if (total - 100.0).abs() < 1e-9 => Ok(parts.map(|p| p / 100.0)),
        true if (total - 1.0).abs() < 1e-9 => Ok(parts),
        _ => Err(format!("{}; the three must sum to 100", wrong())),
    }
}

/// A short form of a number: integers as they are, others with four significant digits.
///
/// ```
/// use ppgn_train::text::short;
/// assert_eq!([short(3.0), short(0.123456), short(1234.56), short(1.5e-9)], ["3", "0.1235", "1235", "1.500e-9"]);
/// ```
pub fn short(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e15 {
        return format!("{x}");
    }
    let digits = 3 - x.abs().log10().floor() as i32;
    match digits {
        0..=8 => format!("{x:.*}", digits as usize),
        _ => format!("{x:.3e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits() {
        assert_eq!(shares("0.5/0.25/0.25"), Ok([0.5, 0.25, 0.25]));
        assert_eq!(shares("100/0/0"), Ok([1.0, 0.0, 0.0]));
        for bad in ["", "80/20", "80/10/20", "a/b/c", "-80/90/90", "NaN/1/0", "80/10/10/0"] {
            assert!(shares(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn encodings_and_m3() {
        assert_eq!(encoding("paper+identity"), Ok(Encoding { identity: true, ..Kind::Paper.into() }));
        for bad in [
            "paper+id",
            "",
            "paper+identity:2",
            "paper+rrwp:0",
            "paper+rrwp:65",
            "paper+distance:-1",
            "paper+rrwp:8:8",
        ] {
            assert!(encoding(bad).is_err(), "{bad}");
        }
        assert_eq!((m3("identity"), m3("7, 8")), (Ok(M3::Identity), Ok(M3::Mlp(vec![7, 8]))));
        assert!(m3("a").unwrap_err().contains("identity"));
    }
}
