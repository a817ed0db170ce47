//! Molecules: what is derived from atoms and bonds before they become a graph.
//!
//! Files say little: SMILES leaves hydrogens out and may write benzene with aromatic atoms, an SDF has single and double bonds,
//! QM9's arrays have aromatic bonds and no charges. Networks want the same features whatever the file, and chemists
//! want those of RDKit, so its rules are followed here, step by step as RDKit's sanitisation has them:
//!
//! | step | here |
//! | --- | --- |
//! | elements, their valences and outer electrons | `elements` |
//! | atoms and bonds, one after another in flat lists | `molecule` |
//! | groups written in several ways become one (nitro, azide, chlorate; bonds to metals) | `normalise` |
//! | implicit hydrogens and radicals from valences | `valence` |
//! | which bonds are in rings; the relevant cycles | `rings` |
//! | single and double bonds for aromatic input | `kekule` |
//! | aromatic bonds by Hückel's rule on fused rings | `aromatic` |
//! | conjugation and hybridisation | `hybridisation` |
//! | donors and acceptors of hydrogen bonds | `hydrogen_bonds` |
//! | charges of aromatic atoms where a file states none (QM9's arrays) | `resonance` |
//! | the Bemis-Murcko framework, and whether two are the same | `scaffold`, `isomorphism` |
//!
//! [`derive`] does all of it for a molecule whose charges are known. `smiles` reads the notation.
//! `benches/peers/rdkit_compare.py` counts the disagreements with RDKit, by feature.

mod aromatic;
pub(crate) mod elements;
pub(crate) mod hybridisation;
pub(crate) mod hydrogen_bonds;
pub(crate) mod isomorphism;
mod kekule;
pub(crate) mod molecule;
mod normalise;
pub(crate) mod resonance;
mod rings;
pub(crate) mod scaffold;
pub(crate) mod smiles;
mod valence;

pub(crate) use aromatic::perceive;
pub(crate) use molecule::Molecule;
pub(crate) use normalise::normalise;
pub(crate) use valence::assign_radicals;

/// What was found on the way that a user may want to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Found {
    /// An atom makes more bonds than its element can: it gets no hydrogens.
    pub(crate) beyond_valence: bool,
    /// There are too many rings to perceive aromaticity.
    pub(crate) too_many_rings: bool,
}

/// Derives everything from atoms, bonds, charges and stated hydrogens: afterwards the molecule has hydrogens, radicals, Kekulé
/// orders, aromatic bonds, rings. O(n + m) but for the searches among rings, which are bounded.
///
/// The error says that no arrangement of double bonds fits the aromatic atoms.
pub(crate) fn derive(molecule: &mut Molecule) -> Result<Found, String> {
    molecule.connect();
    normalise(molecule);
    molecule.find_rings();
    let beyond_valence = valence::add_hydrogens(molecule);
    kekule::kekulise(molecule)?;
    assign_radicals(molecule);
    let too_many_rings = !perceive(molecule);
    Ok(Found { beyond_valence, too_many_rings })
}
