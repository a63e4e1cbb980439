//! What users see of a run, format by format.

#[cfg(test)]
mod anything;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod files;
#[cfg(test)]
mod json;
#[cfg(test)]
mod load;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod terminal;
