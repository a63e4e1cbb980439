//! The client against servers over sockets.

mod server_certificates;
mod upload_ends;
