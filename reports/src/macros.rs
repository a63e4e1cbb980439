/// Appends formatted text to a `String`.
macro_rules! put {
    ($out:expr, $($text:tt)+) => {{
        use std::fmt::Write as _;
        $out.write_fmt(format_args!($($text)+)).expect("a String takes any text");
    }};
}
