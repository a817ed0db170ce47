//! The periodic table, as far as molecules need it: symbols, the electrons that make bonds, and the valences that RDKit
//! allows (its table of 2026).

/// The symbols of the elements, by atomic number from 1.
const SYMBOLS: [&str; 118] = [
    "H", "He", "Li", "Be", "B", "C", "N", "O", "F", "Ne", "Na", "Mg", "Al", "Si", "P", "S", "Cl", "Ar", "K",
    "Ca", "Sc", "Ti", "V", "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As", "Se", "Br", "Kr",
    "Rb", "Sr", "Y", "Zr", "Nb", "Mo", "Tc", "Ru", "Rh", "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I", "Xe",
    "Cs", "Ba", "La", "Ce", "Pr", "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb", "Lu",
    "Hf", "Ta", "W", "Re", "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At", "Rn", "Fr", "Ra",
    "Ac", "Th", "Pa", "U", "Np", "Pu", "Am", "Cm", "Bk", "Cf", "Es", "Fm", "Md", "No", "Lr", "Rf", "Db",
    "Sg", "Bh", "Hs", "Mt", "Ds", "Rg", "Cn", "Nh", "Fl", "Mc", "Lv", "Ts", "Og",
];

/// The atomic number of an atom that may be any: `*` in SMILES.
pub(crate) const ANY: u8 = 0;
pub(crate) const HYDROGEN: u8 = 1;
pub(crate) const BORON: u8 = 5;
pub(crate) const CARBON: u8 = 6;
pub(crate) const NITROGEN: u8 = 7;
pub(crate) const OXYGEN: u8 = 8;
pub(crate) const FLUORINE: u8 = 9;
pub(crate) const PHOSPHORUS: u8 = 15;
pub(crate) const SULPHUR: u8 = 16;

/// The largest atomic number.
pub(crate) const HEAVIEST: u8 = SYMBOLS.len() as u8;

/// The atomic number of a symbol, case ignored; `D` and `T` are hydrogen.
pub(crate) fn atomic_number(symbol: &[u8]) -> Option<u8> {
    match symbol {
        b"H" | b"D" | b"T" => Some(HYDROGEN),
        b"C" => Some(CARBON),
        b"N" => Some(NITROGEN),
        b"O" => Some(OXYGEN),
        b"F" => Some(FLUORINE),
        _ => {
            let place = SYMBOLS.iter().position(|s| s.as_bytes().eq_ignore_ascii_case(symbol));
            place.map(|i| i as u8 + 1)
        }
    }
}

/// The symbol of an element, `*` for any.
pub(crate) fn symbol(element: u8) -> &'static str {
    match element {
        ANY => "*",
        _ => SYMBOLS.get(usize::from(element) - 1).copied().unwrap_or("?"),
    }
}

/// The electrons in the outer shell; d electrons of transition metals count, those of f shells do after the first two.
pub(crate) fn outer_electrons(element: u8) -> i32 {
    i32::from(match element {
        0..=2 => element,
        3..=10 => element - 2,
        11..=18 => element - 10,
        19..=29 => element - 18,
        30..=36 => element - 28,
        37..=47 => element - 36,
        48..=54 => element - 46,
        55..=58 => element - 54,
        59..=71 => element - 56,
        72..=79 => element - 68,
        80..=86 => element - 78,
        87..=90 => element - 86,
        91..=103 => element - 88,
        _ => 2,
    })
}

/// The numbers of bonds that a neutral atom makes, ascending. A list that ends in -1 allows any number beyond; for metals
/// of the transition groups that is all.
pub(crate) fn valences(element: u8) -> &'static [i8] {
    match element {
        1 | 9 | 17 | 35 | 55 | 87 => &[1],
        2 | 10 | 18 | 36 | 86 => &[0],
        3 | 11 | 19 | 37 => &[1, -1],
        4 => &[2],
        12 | 20 | 38 | 56 | 88 => &[2, -1],
        5 | 7 | 13 | 31 | 49 => &[3],
        6 | 14 | 32 => &[4],
        8 => &[2],
        15 | 33 | 51 | 83 => &[3, 5],
        16 | 34 | 52 | 84 => &[2, 4, 6],
        50 | 82 => &[2, 4],
        53 | 85 => &[1, 3, 5],
        54 => &[0, 2, 4, 6],
        _ => &[-1],
    }
}

/// The first of the [`valences`], where there is one.
pub(crate) fn default_valence(element: u8) -> Option<i32> {
    valences(element).first().map(|&v| i32::from(v)).filter(|&v| v >= 0)
}

/// Whether the first element draws electrons more than the second: further right in the table, else further up.
pub(crate) fn more_electronegative(first: u8, second: u8) -> bool {
    let (a, b) = (outer_electrons(first), outer_electrons(second));
    a > b || (a == b && first < second)
}

/// Whether an element is a halogen that organic molecules have.
pub(crate) fn is_halogen(element: u8) -> bool {
    matches!(element, FLUORINE | 17 | 35 | 53)
}

/// Whether an element is a metal: all but hydrogen, the noble gases, and those right of the stairs from boron to astatine.
pub(crate) fn is_metal(element: u8) -> bool {
    !matches!(element, 0..=2 | 5..=10 | 14..=18 | 33..=36 | 52..=54 | 85 | 86)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_and_numbers() {
        for (name, number) in
            [("H", 1), ("D", 1), ("C", 6), ("CL", 17), ("Br", 35), ("W", 74), ("U", 92), ("Og", 118)]
        {
            assert_eq!(atomic_number(name.as_bytes()), Some(number), "{name}");
        }
        for bad in ["", "A", "R#", "Xx", "*", "\u{e9}"] {
            assert_eq!(atomic_number(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!((symbol(0), symbol(17), symbol(118), symbol(119)), ("*", "Cl", "Og", "?"));
    }

    #[test]
    fn shells_and_valences() {
        let first = [(1, 1), (5, 3), (6, 4), (7, 3), (8, 2), (9, 1), (10, 0), (15, 3), (16, 2), (53, 1)];
        for (element, valence) in first {
            assert_eq!(default_valence(element), Some(valence), "element {element}");
        }
        assert_eq!((default_valence(26), valences(16), valences(11)), (None, &[2, 4, 6][..], &[1, -1][..]));
        // Hydrogen, neon, iron, zinc, bromine, neodymium, gold, lead, uranium.
        let shells = [(1, 1), (10, 8), (26, 8), (30, 2), (35, 7), (60, 4), (79, 11), (82, 4), (92, 4)];
        for (element, electrons) in shells {
            assert_eq!(outer_electrons(element), electrons, "element {element}");
        }
        assert!(more_electronegative(OXYGEN, NITROGEN) && more_electronegative(NITROGEN, CARBON));
        assert!(more_electronegative(OXYGEN, SULPHUR) && !more_electronegative(CARBON, CARBON));
        assert!(is_metal(26) && is_metal(50) && !is_metal(14) && !is_metal(HYDROGEN));
    }
}
