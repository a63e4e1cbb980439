pub(super) fn render(_: &super::LoadReport) -> String { String::new() }
