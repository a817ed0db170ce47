"""The features of QM9's atoms according to RDKit, to compare ppgn's with.

    python3 -m venv venv && venv/bin/pip install rdkit numpy      (made with RDKit 2026.9.1)
    venv/bin/python qm9_features.py golden qm9_130831.npz > qm9_features.csv
    venv/bin/python qm9_features.py all qm9_130831.npz > /tmp/qm9_rdkit.csv
    venv/bin/python qm9_features.py sdf qm9_130831.npz > /tmp/qm9/gdb9.sdf

`golden` writes a few molecules in full, one per line: its number in QM9, its SMILES, the atomic numbers, the bonds as
`i-j-type` with RDKit's aromatic bonds as type 4, the types of the same bonds with single and double bonds instead, and
for every atom seven digits: acceptor, donor, aromatic, sp, sp2, sp3, hydrogens. `all` writes the number and the digits
of every molecule, `-` for one that RDKit cannot vouch for. `sdf` writes all molecules with the single and double bonds
of their SMILES and without charges, much as QM9 is published.

RDKit reads the SMILES, adds the hydrogens and does everything else; the arrays only say which atom is which. That is
sound where heavy atoms, bonds and hydrogens of both are the same, which is checked.
"""

import os
import sys

import numpy
from rdkit import Chem, RDConfig, RDLogger
from rdkit.Chem import ChemicalFeatures

RDLogger.DisableLog("rdApp.*")
TYPES = {Chem.BondType.SINGLE: 1, Chem.BondType.DOUBLE: 2, Chem.BondType.TRIPLE: 3, Chem.BondType.AROMATIC: 4}
HYBRIDS = [Chem.HybridizationType.SP, Chem.HybridizationType.SP2, Chem.HybridizationType.SP3]
FACTORY = ChemicalFeatures.BuildFeatureFactory(os.path.join(RDConfig.RDDataDir, "BaseFeatures.fdef"))

# Small ones, rings and cages, every functional group of QM9, charges in and beside rings, and fused rings that are
# aromatic only together.
GOLDEN = [
    1, 2, 3, 4, 5, 6, 25, 49, 50, 51, 52, 70, 116, 184, 187, 214, 215, 271, 282, 739, 748, 920, 1429, 4015, 4208, 5050,
    5646, 5668, 5683, 5684, 7699, 9986, 11141, 21479, 22007, 24320, 24523, 24553, 24565, 28402, 42424, 45546, 54900, 66801,
    114715, 130100, 131977, 132000,
]


def molecules(path):
    """Yields (number, SMILES, atomic numbers, bonds, positions) of every molecule."""
    data = numpy.load(path)
    atoms = numpy.concatenate([[0], numpy.cumsum(data["n_atoms"], dtype=int)]).tolist()
    bonds = numpy.concatenate([[0], numpy.cumsum(data["n_bonds"], dtype=int)]).tolist()
    index, smiles, z, pos, rows = (data[k] for k in ("index", "smiles", "z", "pos", "bonds"))
    for i in range(len(index)):
        a, b = slice(atoms[i], atoms[i + 1]), slice(bonds[i], bonds[i + 1])
        yield int(index[i]), str(smiles[i]), z[a].tolist(), rows[b].tolist(), pos[a].tolist()


def vouched(smiles, z, bonds):
    """RDKit's molecule with its atoms in the order of the arrays, or None where the two do not agree."""
    heavy_molecule = Chem.MolFromSmiles(smiles)
    heavy = [i for i, number in enumerate(z) if number > 1]
    if heavy_molecule is None or [a.GetAtomicNum() for a in heavy_molecule.GetAtoms()] != [z[i] for i in heavy]:
        return None
    molecule = Chem.AddHs(heavy_molecule)
    order = list(heavy)
    hydrogens = {i: [] for i in heavy}
    for i, j, _ in bonds:
        for x, y in ((i, j), (j, i)):
            if z[x] == 1 and z[y] > 1:
                hydrogens[y].append(x)
    for atom in list(molecule.GetAtoms())[len(heavy):]:
        free = hydrogens[heavy[atom.GetNeighbors()[0].GetIdx()]]
        if not free:
            return None
        order.append(free.pop())
    if sorted(order) != list(range(len(z))):
        return None
    molecule = Chem.RenumberAtoms(molecule, [order.index(i) for i in range(len(z))])
    def pair(i, j):
        return (min(i, j), max(i, j))
    theirs = {pair(b.GetBeginAtomIdx(), b.GetEndAtomIdx()): TYPES[b.GetBondType()] for b in molecule.GetBonds()}
    return molecule if theirs == {pair(i, j): t for i, j, t in bonds} else None


def digits(molecule):
    """Seven digits an atom."""
    accepts, gives = set(), set()
    for feature in FACTORY.GetFeaturesForMol(molecule):
        if feature.GetFamily() == "Acceptor":
            accepts.update(feature.GetAtomIds())
        elif feature.GetFamily() == "Donor":
            gives.update(feature.GetAtomIds())
    rows = []
    for atom in molecule.GetAtoms():
        i = atom.GetIdx()
        row = [i in accepts, i in gives, atom.GetIsAromatic()]
        row += [atom.GetHybridization() == hybrid for hybrid in HYBRIDS]
        row += [sum(n.GetAtomicNum() == 1 for n in atom.GetNeighbors())]
        rows.append("".join(str(int(x)) for x in row))
    return " ".join(rows)


def kekulised(molecule, bonds):
    """The types of the bonds with single and double bonds in place of aromatic ones, as RDKit sets them."""
    if molecule is None:
        return [t for _, _, t in bonds]
    plain = Chem.Mol(molecule)
    Chem.Kekulize(plain, clearAromaticFlags=True)
    return [TYPES[plain.GetBondBetweenAtoms(i, j).GetBondType()] for i, j, _ in bonds]


def as_written(smiles, z, bonds):
    """The same as QM9's authors set them: their SMILES have single and double bonds only."""
    plain = Chem.MolFromSmiles(smiles, sanitize=False)
    heavy = [i for i, number in enumerate(z) if number > 1]
    place = {atom: k for k, atom in enumerate(heavy)}
    types = []
    for i, j, t in bonds:
        bond = plain.GetBondBetweenAtoms(place[i], place[j]) if i in place and j in place else None
        types.append(t if bond is None else TYPES[bond.GetBondType()])
    return types


def golden(path):
    print("number,smiles,atoms,bonds,kekule,features")
    for number, smiles, z, bonds, _ in molecules(path):
        if number in GOLDEN:
            molecule = vouched(smiles, z, bonds)
            assert molecule is not None, number
            listed = " ".join(f"{i}-{j}-{t}" for i, j, t in bonds)
            kekule = " ".join(map(str, kekulised(molecule, bonds)))
            print(number, smiles, " ".join(map(str, z)), listed, kekule, digits(molecule), sep=",")


def every(path):
    for number, smiles, z, bonds, _ in molecules(path):
        molecule = vouched(smiles, z, bonds)
        print(number, "-" if molecule is None else digits(molecule), sep=",")


def sdf(path):
    table = Chem.GetPeriodicTable()
    for number, smiles, z, bonds, positions in molecules(path):
        vouched_for = vouched(smiles, z, bonds) is not None
        types = as_written(smiles, z, bonds) if vouched_for else [t for _, _, t in bonds]
        lines = [f"gdb_{number}", "", "", f"{len(z):3}{len(bonds):3}  0  0  0  0  0  0  0  0999 V2000"]
        for element, (x, y, zz) in zip(z, positions):
            symbol = table.GetElementSymbol(element)
            lines.append(f"{x:10.4f}{y:10.4f}{zz:10.4f} {symbol:3} 0  0  0  0  0  0  0  0  0  0  0  0")
        lines += [f"{i + 1:3}{j + 1:3}{t:3}  0" for (i, j, _), t in zip(bonds, types)]
        print("\n".join(lines + ["M  END", "$$$$"]))


if __name__ == "__main__":
    {"golden": golden, "all": every, "sdf": sdf}[sys.argv[1]](sys.argv[2])
