//! Colours unfolded into what they mean, on demand: each is explained by one tuple that has it.

use super::{Definition, Meaning, Named, Neighbours};
use crate::neighbourhood::Neighbourhood;
use crate::pace::Pace;
use crate::types::{Types, tuple_content, words};
use crate::{Error, Options, Refinement};
use ppgn_graph::Graph;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The colours of two graphs of a refinement.
pub(super) struct Unfolding<'a> {
    pair: &'a [Graph; 2],
    /// Their numbers in the refinement.
    graphs: [usize; 2],
    refinement: &'a Refinement,
    types: &'a Types<'a>,
    options: &'a Options,
    neighbourhoods: [Neighbourhood<'a>; 2],
    /// Every colour's children, oldest first: `children[starts[c]..starts[c + 1]]`.
    starts: Vec<u32>,
    children: Vec<u32>,
    /// What was explained so far, and a tuple (and its graph, 0 or 1) for each colour that was met.
    meanings: HashMap<Named, Meaning>,
    witnesses: HashMap<Named, (usize, usize)>,
    pace: Pace<'a>,
}

impl<'a> Unfolding<'a> {
    pub(super) fn new(
        pair: &'a [Graph; 2],
        graphs: [usize; 2],
        refinement: &'a Refinement,
        types: &'a Types<'a>,
        options: &'a Options,
    ) -> Self {
        let colours = refinement.colours_after(refinement.rounds()) as u32;
        let born_later = || (0..colours).filter_map(|c| refinement.parent(c).map(|parent| (parent, c)));
        let mut starts = vec![0u32; colours as usize + 1];
        born_later().for_each(|(parent, _)| starts[parent as usize + 1] += 1);
        for c in 0..colours as usize {
            starts[c + 1] += starts[c];
        }
        let mut next = starts.clone();
        let mut children = vec![0; starts[colours as usize] as usize];
        for (parent, c) in born_later() {
            children[next[parent as usize] as usize] = c;
            next[parent as usize] += 1;
        }
        let neighbourhood = |side: usize| Neighbourhood::new(refinement.test(), &types.neighbours[side]);
        Unfolding {
            pair,
            graphs,
            refinement,
            types,
            options,
            neighbourhoods: [neighbourhood(0), neighbourhood(1)],
            starts,
            children,
            meanings: HashMap::new(),
            witnesses: HashMap::new(),
            pace: Pace::new(&options.interrupt),
        }
    }

    /// A colour after a round, by the last round up to it that made its class smaller or new.
    pub(super) fn name(&self, colour: u32, round: usize) -> Named {
        let c = colour as usize;
        let children = &self.children[self.starts[c] as usize..self.starts[c + 1] as usize];
        let bound = self.refinement.colours_after(round) as u32;
        let before = children.partition_point(|&child| child < bound);
        let last = before.checked_sub(1).map_or(colour, |i| children[i]);
        Named { round: self.refinement.born(last), colour }
    }

    /// The colour of a tuple of one of the two graphs after a round.
    fn name_of(&self, (side, tuple): (usize, usize), round: usize) -> Named {
        let bound = self.refinement.colours_after(round) as u32;
        let mut colour = self.refinement.colours(self.graphs[side])[tuple];
        while colour >= bound {
            colour = self.refinement.parent(colour).expect("types are of round 0");
        }
        self.name(colour, round)
    }

    /// The nodes of a tuple of one of the two graphs.
    pub(super) fn nodes_of(&self, side: usize, tuple: usize) -> Vec<usize> {
        self.neighbourhoods[side].nodes_of(tuple)
    }

    /// Everything that the meaning of a colour rests on, itself included, and how long all of it is, if that is less
    /// than `most`.
    pub(super) fn explain(
        &mut self,
        name: Named,
        witness: (usize, usize),
        most: usize,
    ) -> Result<Option<(usize, BTreeSet<Named>)>, Error> {
        self.witnesses.entry(name).or_insert(witness);
        let mut names = BTreeSet::from([name]);
        let mut open = vec![name];
        let mut length = 0;
        while let Some(name) = open.pop() {
            self.define(name)?;
            let mut meet = |name: Named| {
                if names.insert(name) {
                    open.push(name);
                }
            };
            length += 1;
            if let Meaning::Refined { parent, neighbours } = &self.meanings[&name] {
                length += neighbours.len();
                meet(*parent);
                neighbours.iter().flat_map(|n| &n.colours).for_each(|&colour| meet(colour));
            }
            if length >= most {
                return Ok(None);
            }
        }
        Ok(Some((length, names)))
    }

    /// The definitions of these colours, which have been explained, latest rounds first.
    pub(super) fn legend(&self, names: BTreeSet<Named>) -> Vec<Definition> {
        let define = |name: Named| Definition { name, meaning: self.meanings[&name].clone() };
        names.into_iter().rev().map(define).collect()
    }

    /// Finds what a colour means, from a tuple that was met with it.
    fn define(&mut self, name: Named) -> Result<(), Error> {
        if self.meanings.contains_key(&name) {
            return Ok(());
        }
        let (side, tuple) = self.witnesses[&name];
        let directed = self.pair.iter().any(Graph::is_directed);
        let Some(before) = name.round.checked_sub(1) else {
            let nodes = self.nodes_of(side, tuple);
            let content = tuple_content(&self.pair[side], &nodes, self.options.features);
            let meaning = Meaning::Type(words::tuple(&content, nodes.len(), directed));
            self.meanings.insert(name, meaning);
            return Ok(());
        };
        self.pace.spend(self.neighbourhoods[side].len(tuple))?;
        let parent = self.name_of((side, tuple), before);
        let mut met = vec![(parent, tuple)];
        let mut alike: BTreeMap<(usize, u32, Vec<Named>), u64> = BTreeMap::new();
        self.neighbourhoods[side].for_each(tuple, |n| {
            let colours: Vec<Named> = n.tuples.iter().map(|&t| self.name_of((side, t), before)).collect();
            let kind = alike.entry((n.position, n.relation, colours)).or_insert(0);
            if *kind == 0 {
                met.extend(n.tuples.iter().map(|&t| (self.name_of((side, t), before), t)));
            }
            *kind += 1;
        });
        for (name, tuple) in met {
            self.witnesses.entry(name).or_insert((side, tuple));
        }
        let several = !self.types.neighbours[side].one_relation() && self.refinement.test().k() == 1;
        let positions = self.refinement.test().k() > 1 && self.neighbourhoods[side].width() == 1;
        let neighbours = alike.into_iter().map(|((position, relation, colours), count)| Neighbours {
            position: if positions { position + 1 } else { 0 },
            relation: several
                .then(|| words::relation(&self.types.relation_contents[relation as usize], directed)),
            colours,
            count,
        });
        let meaning = Meaning::Refined { parent, neighbours: neighbours.collect() };
        self.meanings.insert(name, meaning);
        Ok(())
    }
}
