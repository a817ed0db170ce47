"""Molecules as graphs: RDKit's objects, and SMILES strings.

Atoms are nodes with the labels element, charge, aromatic, hydrogens and ring; bonds are edges with the labels order (4 for
an aromatic bond), and ring. Hydrogens are counted, not nodes, unless the molecule has them as atoms.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ._ppgn import Graph

_SMILES = re.compile(r"[A-Za-z0-9@+\-\[\]()=#$:/\\%.*]+")


def plausible(text: str) -> bool:
    """Whether a text has the letters of a SMILES string."""
    return bool(_SMILES.fullmatch(text.strip()))


def from_rdkit(molecule: Any) -> Graph:
    """An RDKit molecule, with the positions of its first conformer where it has one in three dimensions."""
    atoms = [
        (
            atom.GetAtomicNum(),
            atom.GetFormalCharge(),
            int(atom.GetIsAromatic()),
            atom.GetTotalNumHs(),
            int(atom.IsInRing()),
        )
        for atom in molecule.GetAtoms()
    ]
    bonds = [
        (
            bond.GetBeginAtomIdx(),
            bond.GetEndAtomIdx(),
            4 if bond.GetIsAromatic() else round(bond.GetBondTypeAsDouble()),
            int(bond.IsInRing()),
        )
        for bond in molecule.GetBonds()
    ]
    table = np.array(bonds, dtype=np.int64).reshape(len(bonds), 4)
    kept: dict[str, Any] = {}
    if molecule.GetNumConformers() and molecule.GetConformer().Is3D():
        kept["positions"] = np.asarray(molecule.GetConformer().GetPositions())
    return Graph(
        len(atoms),
        table[:, :2],
        node_labels=np.array(atoms, dtype=np.int64).reshape(len(atoms), 5),
        edge_labels=table[:, 2:],
        **kept,
    )


def _parsed(smiles: str) -> Any:
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        raise ImportError("SMILES strings need RDKit: pip install rdkit") from None
    # What is wrong with a string is for the exception to say.
    with rdBase.BlockLogs():
        return Chem.MolFromSmiles(smiles)


def from_smiles(smiles: str) -> Graph:
    """The molecule of a SMILES string."""
    molecule = _parsed(smiles)
    if molecule is None:
        raise ValueError(f"{smiles!r} is not a SMILES string")
    return from_rdkit(molecule)


def checked(smiles: str) -> Graph | None:
    """The molecule of a SMILES string; None where it is not one, or where nothing can tell."""
    try:
        return from_smiles(smiles) if plausible(smiles) else None
    except (ImportError, ValueError):
        return None
