"""What RDKit makes of some hundred molecules, as goldens for ppgn's reading of SMILES and SDF.

    pip install rdkit
    python molecules.py first_5K.smi        # NCI/first_5K.smi of Debian's package rdkit-data

writes molecules.txt: one molecule per line, SMILES, atoms and bonds separated by blanks. An atom is
`element,charge,hydrogens,ring,aromatic,orbitals`, a bond `a,b,type,ring`, with ppgn's numbers: orbitals 1 s, 2 sp, 3 sp2,
4 sp3, 5 sp3d, 6 sp3d2; types 1 2 3, 4 aromatic, 5 of order 4, 6 dative. And molecules.sdf: some of them as RDKit writes
them, drawn on paper, V2000 and V3000 in turn, with data tags.

The molecules are HARD, below, every 20th of the 5,000, and every 40th as canonical SMILES with aromatic atoms.
"""

import sys

from rdkit import Chem, RDLogger, rdBase
from rdkit.Chem import AllChem

ORBITALS = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 7, 6: 5, 7: 6, 8: 0}
TYPES = {"SINGLE": 1, "DOUBLE": 2, "TRIPLE": 3, "AROMATIC": 4, "QUADRUPLE": 5, "DATIVE": 6}

HARD = r"""
c1ccc2[nH]ccc2c1 O=c1cc[nH]cc1 c1cc2ccc3cccc4ccc(c1)c2c34 C1=CC=C[CH+]C=C1 [CH-]1C=CC=C1 c1cc[o+]cc1
[O-][n+]1ccccc1 O=N(=O)c1ccccc1 CN=N#N C[N+]#[C-] [C-]#[O+] [CH3] [CH2] O=[Cl](=O)(=O)O FS(F)(F)(F)(F)F
F[P-](F)(F)(F)(F)F CS(=O)(=O)C C[S+](C)[O-] c1ccsc1 c1cc[se]c1 c1cc[te]c1 b1ccccc1 B1NBNBN1 c1cnc2ncnc2[nH]1
[nH]1cnnn1 n1nnnn1C c1ccc(cc1)-c1ccccc1 c1ccccc1c1ccccc1 C1CC2CCC1C2 C12C3C4C1C5C2C3C45
c1ccc2c(c1)c1ccccc1c1ccccc21 *c1ccccc1 c1cc*cc1 [NH4+].[Cl-] [Na+].[O-]C(=O)c1ccccc1 [13CH4] [2H]C([2H])([2H])O
F/C=C/F N[C@@H](C)C(=O)O [Cu+2].[O-]S(=O)(=O)[O-] C[Si](C)(C)C C=P(C)(C)C CP(=O)(O)O O=P(O)(O)O C=[N+]=[N-] O=C=O
N#N [H][H] [H+] [H-] O=S=O O=O [O][O] C#CC#C C=C=C OC1=CC=CC=C1 O=C1C=CC(=O)C=C1 O=C1C=CC=CC=C1 C1=CC=CC=CC=C1
c1ccc2cccc2cc1 C1=CC2=CC=CC2=C1 S1C=CSC=C1 C1=CSC=CN1 n1c[nH]cc1C(=O)N CC(=O)Nc1ccccc1 c1ccc(N)cc1
c1ccc([N+](=O)[O-])cc1 C1=COC=CO1 O1C=CC=C1 O=c1[nH]c(=O)c2[nH]cnc2[nH]1 Cn1cnc2c1c(=O)n(C)c(=O)n2C
C1=CN2C=CC=C2C=C1 [Fe+2].c1cc[cH-]c1.c1cc[cH-]c1 [Pt](Cl)(Cl)(N)N N[Pt](Cl)(Cl)N [NH3][Pt](Cl)(Cl)[NH3] CC[Hg]Cl
C[Pb](C)(C)C [Al+3].[OH-].[OH-].[OH-] C[As](C)C [SiH4] [GeH4] I(=O)(=O)O [I-](I)I FI(F)(F)(F)F [Xe](F)F
ClC(Cl)(Cl)Cl BrBr OS(=O)(=O)C(F)(F)F C1=C[N]C=C1 c1cc[n-]c1 [O-]c1ccccc1 [S-]C C[Se]C C[Te]C c1c[nH+]c[nH]1
C[n+]1ccn(C)c1 N=C(N)N NC(N)=[NH2+] CN(C)C=O O=C(O)C=C OC=CC=O CNO C=NO CON=C C/C=N/O S=C=S N=S(=O)(C)C CS(C)(=N)=O
c1ccc2sc3ccccc3c2c1 c1ccc2ncccc2c1 C1=CC=C2C=CC=CC2=C1
c12c3c4c5c1c1c6c7c2c2c8c3c3c9c4c4c%10c5c5c1c1c6c6c%11c7c2c2c7c8c3c3c8c9c4c4c9c%10c5c5c1c1c6c6c%11c2c2c7c3c3c8c4c4c9c5c1c1c6c2c3c41
C%12CCCCC%12 C1CC1 C$C [U] [Og] OO NN N=N [N-]=[N+]=N P PP p1ccccc1 C1=CPC=C1 c1cc[pH]c1 [SH2+]C [BH4-]
[B-](F)(F)(F)F C[B-](C)(C)C B(O)(O)c1ccccc1 [CH2-]C=C [CH2+]C=C C=C[O-] N[C+](N)N [C] [Si] [N] [O] [F] [Li]C
[Mg](C)C C[Zn]C [K+].[Br-] [Ca+2] O[Si](O)(O)O ClP(Cl)(Cl)(Cl)Cl O=Cl(=O)O OBr(=O)=O c1c2c(cc3c1OCO3)OCO2 N1C=CN=C1
C1=NC=NC=N1 C1=CN=NN=C1 [O-][N+](=O)[O-] ON=O C[N+](C)(C)C C[N+](C)(C)[O-] CC(C)=[OH+] c1ccc2c(c1)Cc1ccccc1-2
c1ccc2c(c1)-c1ccccc1-2 CN(C)C[C-]12->[Fe+2]3456789([C]%10=[C]3[C-]4[C]5=[C]%106)[C](=[C]17)[C]8=[C]29
""".split()


def molecule(smiles):
    """The molecule with its hydrogens as they are written, or None if RDKit refuses it."""
    options = Chem.SmilesParserParams()
    options.sanitize = options.removeHs = False
    found = Chem.MolFromSmiles(smiles, options)
    try:
        Chem.SanitizeMol(found)
    except Exception:
        return None
    return found


def row(found):
    """Atoms and bonds of a molecule, as lists of numbers."""
    atoms = [
        (a.GetAtomicNum(), a.GetFormalCharge(), a.GetTotalNumHs(True), int(a.IsInRing()), int(a.GetIsAromatic()),
         ORBITALS[int(a.GetHybridization())])
        for a in found.GetAtoms()
    ]
    bonds = [
        (b.GetBeginAtomIdx(), b.GetEndAtomIdx(), TYPES.get(str(b.GetBondType()), 0), int(b.IsInRing()))
        for b in found.GetBonds()
    ]
    return atoms, bonds


def text(lists):
    return ";".join(",".join(map(str, numbers)) for numbers in lists) or "-"


def main(path):
    RDLogger.DisableLog("rdApp.*")
    listed = [line.split()[0] for line in open(path) if line.strip()]
    canonical = [Chem.MolFromSmiles(s) for s in listed[::40]]
    chosen = HARD + listed[::20] + [Chem.MolToSmiles(m) for m in canonical if m is not None]
    kept = []
    with open("molecules.txt", "w") as out:
        print(f"# RDKit {rdBase.rdkitVersion}, by molecules.py", file=out)
        for smiles in chosen:
            found = molecule(smiles)
            if found is not None:
                atoms, bonds = row(found)
                print(smiles, text(atoms), text(bonds), file=out)
                kept.append((smiles, found))
    with open("molecules.sdf", "w") as out:
        for i, (smiles, found) in enumerate(kept[: len(HARD)]):
            # Mol files have neither dummies as elements nor bonds of order 4, and states of ions that RDKit reads back
            # differently are not ppgn's to judge.
            copy = Chem.MolFromMolBlock(Chem.MolToMolBlock(found, forceV3000=i % 2 == 1), removeHs=False)
            if copy is None or row(copy) != row(found) or "*" in smiles:
                continue
            AllChem.Compute2DCoords(copy)
            copy.SetProp("_Name", smiles)
            print(Chem.MolToMolBlock(copy, forceV3000=i % 2 == 1), end="", file=out)
            print(f"> <atoms>\n{copy.GetNumAtoms()}\n\n>  <SMILES>  (1)\n{smiles}\n", file=out)
            if i % 3:
                print(f"> <third>\n{i / 3:.4f}\n", file=out)
            print("$$$$", file=out)


if __name__ == "__main__":
    main(sys.argv[1])
