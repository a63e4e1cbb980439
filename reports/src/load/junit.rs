pub(super) fn render(_: &super::LoadReport) -> Result<String, quick_junit::SerializeError> { Ok(String::new()) }
