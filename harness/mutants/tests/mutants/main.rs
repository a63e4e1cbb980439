//! Mutants and the cases that detect them.

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod causes;
mod collector;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod inert;
#[cfg(test)]
mod rows;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod support;
