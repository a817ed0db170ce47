//! The periodic table, as far as reading a molecule needs it: symbols, and the electrons that make bonds.

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

pub(super) const HYDROGEN: u8 = 1;
pub(super) const CARBON: u8 = 6;
pub(super) const NITROGEN: u8 = 7;
pub(super) const OXYGEN: u8 = 8;
pub(super) const FLUORINE: u8 = 9;
pub(super) const SULPHUR: u8 = 16;

/// The largest atomic number.
pub(super) const HEAVIEST: u8 = SYMBOLS.len() as u8;

/// The atomic number of a symbol, case ignored; `D` and `T` are hydrogen.
pub(super) fn atomic_number(symbol: &[u8]) -> Option<u8> {
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

/// The electrons in the outer shell, for the elements of the main groups.
pub(super) fn outer_electrons(element: u8) -> Option<i32> {
    let electrons = match element {
        1 | 2 => element,
        3..=10 => element - 2,
        11..=18 => element - 10,
        19 | 20 => element - 18,
        31..=36 => element - 28,
        37 | 38 => element - 36,
        49..=54 => element - 46,
        55 | 56 => element - 54,
        81..=86 => element - 78,
        87 | 88 => element - 86,
        _ => return None,
    };
    Some(i32::from(electrons))
}

/// How many bonds a neutral atom makes, for the elements of the main groups: the octet rule.
pub(super) fn usual_valence(element: u8) -> Option<i32> {
    outer_electrons(element).map(|outer| match element {
        1 => 1,
        2 => 0,
        _ if outer <= 4 => outer,
        _ => 8 - outer,
    })
}

/// Whether the first element draws electrons more than the second: further right in the table, else further up.
pub(super) fn more_electronegative(first: u8, second: u8) -> bool {
    match (outer_electrons(first), outer_electrons(second)) {
        (Some(a), Some(b)) => a > b || (a == b && first < second),
        _ => false,
    }
}

/// Whether an element is a halogen that organic molecules have.
pub(super) fn is_halogen(element: u8) -> bool {
    matches!(element, FLUORINE | 17 | 35 | 53)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_and_numbers() {
        for (symbol, number) in
            [("H", 1), ("D", 1), ("C", 6), ("CL", 17), ("Br", 35), ("W", 74), ("U", 92), ("Og", 118)]
        {
            assert_eq!(atomic_number(symbol.as_bytes()), Some(number), "{symbol}");
        }
        for bad in ["", "A", "R#", "Xx", "*", "\u{e9}"] {
            assert_eq!(atomic_number(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn octets() {
        let valences = [(1, 1), (5, 3), (6, 4), (7, 3), (8, 2), (9, 1), (10, 0), (15, 3), (16, 2), (53, 1)];
        for (element, valence) in valences {
            assert_eq!(usual_valence(element), Some(valence), "element {element}");
        }
        assert_eq!(usual_valence(26), None);
        assert!(more_electronegative(OXYGEN, NITROGEN) && more_electronegative(NITROGEN, CARBON));
        assert!(more_electronegative(OXYGEN, SULPHUR) && !more_electronegative(CARBON, CARBON));
    }
}
