//! Every check can fail: edges, services and key sets with one deviation each, and who notices.

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod nothing;
#[cfg(test)]
mod rows;
#[cfg(test)]
mod support;
