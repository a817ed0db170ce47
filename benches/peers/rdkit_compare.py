"""Counts where ppgn and RDKit disagree about molecules, by feature.

    python3 -m venv venv && venv/bin/pip install rdkit numpy
    venv/bin/python benches/peers/rdkit_compare.py [--ppgn target/release/ppgn] FILE...

A FILE is a list of SMILES (.smi), or the arrays of QM9 (.npz), of which the SMILES are taken. ppgn converts them to JSON
Lines, RDKit reads the same SMILES, hydrogens as they are written; molecules that RDKit refuses are counted and left out.
Element, charge, hydrogens, ring membership and the order of bonds must agree everywhere (exit code 1 otherwise), and
aromaticity and hybridisation on all but 0.1 % of the atoms. Orders are compared where a bond is aromatic for neither.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
from rdkit import Chem, RDLogger, rdBase

ORBITALS = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 7, 6: 5, 7: 6, 8: 0}
TYPES = {"SINGLE": 1, "DOUBLE": 2, "TRIPLE": 3, "AROMATIC": 4, "QUADRUPLE": 5, "DATIVE": 6}
EXACT = ["element", "charge", "hydrogens", "atom in a ring", "bond order", "bond in a ring", "atoms and bonds", "refused by ppgn"]
CLOSE = ["aromatic", "hybridisation", "aromatic bond"]


def smiles_of(path):
    if path.suffix == ".npz":
        return [str(s) for s in numpy.load(path)["smiles"]]
    return [line.split()[0] for line in path.read_text().splitlines() if line.strip()]


def by_rdkit(smiles):
    options = Chem.SmilesParserParams()
    options.sanitize = options.removeHs = False
    molecule = Chem.MolFromSmiles(smiles, options)
    try:
        Chem.SanitizeMol(molecule)
    except Exception:
        return None
    return molecule


def by_ppgn(ppgn, smiles, folder):
    """The graphs of these SMILES; None for one that ppgn refuses."""
    refused = set()
    while True:
        kept = [s for i, s in enumerate(smiles) if i not in refused]
        (folder / "m.smi").write_text("\n".join(kept) + "\n")
        checked = subprocess.run([ppgn, "data", "check", folder / "m.smi", "--json"], capture_output=True, text=True)
        defects = {d["graph"] for d in json.loads(checked.stdout.splitlines()[-1])["defect_list"]}
        if not defects:
            break
        places = [i for i in range(len(smiles)) if i not in refused]
        refused |= {places[d] for d in defects}
    out = folder / "m.jsonl"
    subprocess.run([ppgn, "data", "convert", folder / "m.smi", out, "--force"], check=True, capture_output=True)
    with open(out) as lines:
        header = json.loads(next(lines))
        names = [c["name"] for c in header["schema"]["node_labels"]]
        assert names[:6] == ["atom", "charge", "aromatic", "hydrogens", "hybridisation", "ring"], names
        graphs = (json.loads(line) for line in lines)
        yield from (None if i in refused else next(graphs) for i in range(len(smiles)))


def differences(molecule, graph):
    """The features in which they disagree, one word per atom or bond."""
    if graph is None:
        return ["refused by ppgn"]
    found = []
    if (graph["n"], len(graph["edges"])) != (molecule.GetNumAtoms(), molecule.GetNumBonds()):
        return ["atoms and bonds"]
    for atom, labels in zip(molecule.GetAtoms(), graph["node_labels"]):
        element, charge, aromatic, hydrogens, orbitals, ring = labels[:6]
        found += ["element"] * (element != atom.GetAtomicNum())
        found += ["charge"] * (charge != atom.GetFormalCharge())
        found += ["hydrogens"] * (hydrogens != atom.GetTotalNumHs(True))
        found += ["atom in a ring"] * (ring != int(atom.IsInRing()))
        found += ["aromatic"] * (aromatic != int(atom.GetIsAromatic()))
        found += ["hybridisation"] * (orbitals != ORBITALS[int(atom.GetHybridization())])
    for (a, b), (kind, ring) in zip(graph["edges"], graph["edge_labels"]):
        bond = molecule.GetBondBetweenAtoms(a, b)
        if bond is None:
            found.append("atoms and bonds")
            continue
        found += ["bond in a ring"] * (ring != int(bond.IsInRing()))
        if (kind == 4) != bond.GetIsAromatic():
            found.append("aromatic bond")
        elif kind != TYPES.get(str(bond.GetBondType())):
            found.append("bond order")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--ppgn", default="target/release/ppgn")
    parser.add_argument("--show", type=int, default=5, help="how many molecules to show that differ")
    options = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    print(f"RDKit {rdBase.rdkitVersion}")
    failed = False
    for path in options.files:
        counts, totals, shown = collections.Counter(), collections.Counter(), 0
        smiles = smiles_of(path)
        with tempfile.TemporaryDirectory() as folder:
            for text, graph in zip(smiles, by_ppgn(options.ppgn, smiles, pathlib.Path(folder))):
                molecule = by_rdkit(text)
                if molecule is None:
                    totals["refused by RDKit"] += 1
                    continue
                totals.update(molecules=1, atoms=molecule.GetNumAtoms(), bonds=molecule.GetNumBonds())
                found = differences(molecule, graph)
                counts.update(found)
                if found and shown < options.show:
                    shown += 1
                    print(f"  {text}: {dict(collections.Counter(found))}")
        print(f"{path}: " + ", ".join(f"{n} {what}" for what, n in totals.items()))
        for feature in EXACT + CLOSE:
            share = counts[feature] / max(1, totals["atoms"])
            print(f"  {feature:16} {counts[feature]:6} differ ({100 * share:.4f} %)")
            failed |= counts[feature] > 0 if feature in EXACT else share > 0.001
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
