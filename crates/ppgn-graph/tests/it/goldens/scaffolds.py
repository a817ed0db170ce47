"""RDKit's Bemis-Murcko scaffolds of a thousand molecules, as goldens for ppgn's split by scaffold.

    pip install rdkit
    python scaffolds.py first_5K.smi        # NCI/first_5K.smi of RDKit's data folder, or of Debian's package rdkit-data

writes scaffolds.txt: one molecule per line, SMILES and the number of its group, by first appearance. Two molecules are in
one group if and only if MurckoScaffoldSmiles gives the same SMILES for both, without chirality. The molecules are every
fifth of the 5,000 that RDKit reads, and as many more as make a thousand.
"""

import sys
from pathlib import Path

from rdkit import Chem, RDLogger, rdBase
from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles


def main(path):
    RDLogger.DisableLog("rdApp.*")
    listed = [line.split()[0] for line in open(path) if line.strip()]
    order = [smiles for start in range(5) for smiles in listed[start::5]]
    read = ((smiles, Chem.MolFromSmiles(smiles)) for smiles in order)
    chosen = [pair for _, pair in zip(range(1000), (pair for pair in read if pair[1] is not None))]
    groups, lines = {}, []
    for smiles, molecule in chosen:
        scaffold = MurckoScaffoldSmiles(mol=molecule, includeChirality=False)
        lines.append(f"{smiles} {groups.setdefault(scaffold, len(groups))}")
    head = f"# {len(lines)} molecules in {len(groups)} groups by scaffold, RDKit {rdBase.rdkitVersion}; see scaffolds.py"
    Path(__file__).with_suffix(".txt").write_text("\n".join([head, *lines, ""]))


main(sys.argv[1])
