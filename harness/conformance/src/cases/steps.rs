/// Steps of a case: `steps!(async |context| { … })`. `with(a, b)` after it clones what each play needs of its own.
///
/// An async closure is not enough: Rust cannot yet require that its future is `Send`.
#[macro_export]
macro_rules! steps {
    (async |$context:ident| $body:block $(, with($($own:ident),+))? $(,)?) => {
        move |$context| {
            $($(let $own = ::std::clone::Clone::clone(&$own);)+)?
            ::std::boxed::Box::pin(async move $body)
        }
    };
}
