"""Makes the files of docs/molecules.md: 120 molecules with numbers that RDKit computes.

    pip install rdkit
    python make.py first_5K.smi          # NCI/first_5K.smi of Debian's package rdkit-data

logp.csv has a column of SMILES, logP (Crippen) and TPSA, in which every seventh cell is missing. drawn.sdf has half of
the molecules as drawings, V2000, with the tags logP and rings: none, one or several.
"""

import sys

from rdkit import Chem, RDLogger
from rdkit.Chem import AllChem, Crippen, rdMolDescriptors


def main(path):
    RDLogger.DisableLog("rdApp.*")
    lines = [line.split() for line in open(path) if line.strip()]
    found = [(s, n, Chem.MolFromSmiles(s)) for s, n in lines]
    elements = {1, 6, 7, 8, 9, 16, 17, 35}
    fits = lambda m: m and 5 <= m.GetNumAtoms() <= 20 and {a.GetAtomicNum() for a in m.GetAtoms()} <= elements
    kept = [(s, n, m) for s, n, m in found if fits(m)][:1200:10]
    with open("logp.csv", "w") as table, open("drawn.sdf", "w") as drawn:
        print("smiles,id,logP,TPSA", file=table)
        for i, (smiles, number, molecule) in enumerate(kept):
            logp, tpsa = f"{Crippen.MolLogP(molecule):.3f}", f"{rdMolDescriptors.CalcTPSA(molecule):.2f}"
            cells = ["" if (2 * i + k) % 7 == 3 else cell for k, cell in enumerate([logp, tpsa])]
            print(smiles, f"NSC{number}", *cells, sep=",", file=table)
            if i % 2:
                continue
            rings = {0: "none", 1: "one"}.get(molecule.GetRingInfo().NumRings(), "several")
            AllChem.Compute2DCoords(molecule)
            molecule.SetProp("_Name", f"NSC{number}")
            print(Chem.MolToMolBlock(molecule), end="", file=drawn)
            print(f"> <logP>\n{logp}\n\n> <rings>\n{rings}\n\n$$$$", file=drawn)


if __name__ == "__main__":
    main(sys.argv[1])
