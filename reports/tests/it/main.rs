//! Documents of every format.

#[cfg(test)]
mod documents;
#[cfg(test)]
mod files;
#[cfg(test)]
mod hostile;
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
