"""Molecules as graphs: SMILES strings by ppgn's own reader, and RDKit's objects.

Both have the labels that files of molecules have on the command line. Atoms are nodes with the labels atom, charge,
aromatic, hydrogens, hybridisation, ring, acceptor and donor; bonds are edges with the labels bond (4 for an aromatic one)
and ring. Hydrogens are counted, and nodes only where the string or the molecule has them as atoms.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ._ppgn import Graph, parse_smiles, perceived

_SMILES = re.compile(r"[A-Za-z0-9@+\-\[\]()=#$:/\\%.*<>~]+")

#: RDKit's types of bonds: single, double, triple, quadruple, aromatic, dative; and their orders.
_TYPES = {1: (1, 1), 2: (2, 2), 3: (3, 3), 4: (5, 4), 12: (4, 1), 17: (6, 1)}


def plausible(text: str) -> bool:
    """Whether a text has the letters of a SMILES string."""
    return bool(_SMILES.fullmatch(text.strip()))


def is_rdkit(item: Any) -> bool:
    """Whether an object is a molecule of RDKit's."""
    return hasattr(item, "GetAtoms") and hasattr(item, "GetBonds")


def from_rdkit(molecule: Any) -> Graph:
    """An RDKit molecule, with the positions of its first conformer where it has one in three dimensions.

    Charges, hydrogens and aromatic bonds are as RDKit has perceived them; the molecule must be sanitised, as those that
    RDKit reads are.
    """
    try:
        atoms = [
            (a.GetAtomicNum(), a.GetFormalCharge(), a.GetTotalNumHs(), a.GetNumRadicalElectrons())
            for a in molecule.GetAtoms()
        ]
    except RuntimeError:
        raise ValueError("the hydrogens of the molecule are not known: Chem.SanitizeMol(molecule) finds them") from None
    orders = _kekule(molecule)
    bonds = []
    for bond in molecule.GetBonds():
        ends = (bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())
        if bond.GetIsAromatic():
            bonds.append((*ends, 4, orders[bond.GetIdx()]))
            continue
        known = _TYPES.get(int(bond.GetBondType()))
        if known is None:
            raise ValueError(f"a bond of type {bond.GetBondType()} between atoms {ends[0]} and {ends[1]} cannot be read")
        bonds.append((*ends, *known))
    in_space = molecule.GetNumConformers() and molecule.GetConformer().Is3D()
    return perceived(
        np.array(atoms, dtype=np.int64).reshape(len(atoms), 4),
        np.array(bonds, dtype=np.int64).reshape(len(bonds), 4),
        np.asarray(molecule.GetConformer().GetPositions()) if in_space else None,
    )


def _kekule(molecule: Any) -> list[int]:
    """The order of every bond in a structure of single and double bonds."""
    if not any(bond.GetIsAromatic() for bond in molecule.GetBonds()):
        return [1] * molecule.GetNumBonds()
    from rdkit import Chem

    copy = Chem.Mol(molecule)
    try:
        Chem.Kekulize(copy)
    except ValueError as error:
        raise ValueError(f"the molecule has no structure of single and double bonds: {error}") from None
    return [_TYPES.get(int(bond.GetBondType()), (1, 1))[1] for bond in copy.GetBonds()]


def from_smiles(smiles: str) -> Graph:
    """The molecule of a SMILES string."""
    try:
        return parse_smiles(smiles)
    except ValueError as error:
        raise ValueError(f"{smiles!r} is not a SMILES string: {error}") from None


def checked(smiles: str) -> Graph | None:
    """The molecule of a SMILES string; None where it is not one."""
    try:
        return from_smiles(smiles) if plausible(smiles) else None
    except ValueError:
        return None
