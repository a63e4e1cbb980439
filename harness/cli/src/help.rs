use clap::{Arg, Command};

/// Shows defaults as `(default: 10s)`, in line with the defaults that help texts describe in words.
pub(super) fn with_defaults(command: Command) -> Command {
    command.mut_args(with_default).mut_subcommands(with_defaults)
}

fn with_default(arg: Arg) -> Arg {
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if defaults.is_empty() || arg.is_hide_default_value_set() {
        return arg;
    }
    let text = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let help = format!("{text} (default: {})", defaults.join(","));
    arg.help(help).hide_default_value(true)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Arguments {
        /// Timeout of a case
        #[arg(long, default_value = "10s")]
        _timeout: String,
        /// Print nothing
        #[arg(long)]
        _quiet: bool,
    }

    #[test]
    fn help_shows_defaults_in_parentheses() {
        let help = with_defaults(<Arguments as clap::CommandFactory>::command()).render_help().to_string();
        assert!(help.contains("Timeout of a case (default: 10s)\n"), "{help}");
        assert!(!help.contains("[default"), "{help}");
    }
}
