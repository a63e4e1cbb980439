/// Steps of a case: `steps!(async |context| { … })`. `with(a, b)` before it clones what each play needs of its own.
///
/// An async closure is not enough: Rust cannot yet require that its future is `Send`.
#[macro_export]
macro_rules! steps {
    ($(with($($own:ident),+),)? async |$context:ident| $body:block $(,)?) => {
        move |$context| {
            $($(let $own = ::std::clone::Clone::clone(&$own);)+)?
            ::std::boxed::Box::pin(async move $body)
        }
    };
}
