//! Rule for falling back to another model when one gives no answer: a pure function.
//!
//! `ModelPool::ask` walks through the models by it.

use super::{ModelError, ModelInfo};

/// Returns true if `next` is to be asked after `current` has failed for good (that is, after its
/// retries).
///
/// A refusal stands: we do not search for a model that says what another declined to say. Our own
/// budget counts for all models together. A request that is too long for one model may fit only a
/// larger one.
pub fn should_fall_back(error: &ModelError, current: &ModelInfo, next: &ModelInfo) -> bool {
    match error {
        ModelError::Refused | ModelError::OverBudget(_) | ModelError::AboveLimit(_) => false,
        ModelError::TooLong => next.context_window > current.context_window,
        ModelError::Later { .. }
        | ModelError::Cut
        | ModelError::NoCredit
        | ModelError::BadKey
        | ModelError::Rejected(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(context_window: u64) -> ModelInfo {
        ModelInfo {
            provider: "openai".to_owned(),
            name: "small".to_owned(),
            context_window,
            max_output: 1000,
            images: false,
            price: None,
        }
    }

    #[test]
    fn the_table_of_falls() {
        let (small, large) = (card(8_000), card(128_000));
        let later = ModelError::Later { after: None, what: String::new() };
        for error in
            [later, ModelError::Cut, ModelError::NoCredit, ModelError::BadKey, ModelError::Rejected(String::new())]
        {
            assert!(should_fall_back(&error, &large, &small), "{error:?}");
        }
        for error in [ModelError::Refused, ModelError::OverBudget(String::new()), ModelError::AboveLimit(String::new())]
        {
            assert!(!should_fall_back(&error, &small, &large), "{error:?}");
        }
        assert!(should_fall_back(&ModelError::TooLong, &small, &large));
        assert!(!should_fall_back(&ModelError::TooLong, &large, &small));
        assert!(!should_fall_back(&ModelError::TooLong, &small, &small));
    }
}
