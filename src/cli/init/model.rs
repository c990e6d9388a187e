//! The model in the dialogue: provider, address, key, name, and the figures of an unknown model.
//!
//! Each answer is tested with a real request when it is given, and asked again alone. Enter keeps
//! an answer that failed its test: a setting can be right before the server is.

use super::questions::{KEY_FILE, Wizard};
use crate::cli::print::{self, CliError};
use crate::cli::{block_on, probe};
use crate::config::{self, KnownModel, Price, Provider, known_model};
use crate::model::ModelError;
use crate::model::listing::{self, ListedModel};
use crate::wording::cli::init as says;
use crate::wording::cli::with_fix;

/// Number of models that are listed at most.
const MAX_SHOWN: usize = 20;

/// Someone who runs models, with the protocol and address to reach them.
struct Preset {
    /// Word by which it is chosen.
    word: &'static str,
    /// Line in the list.
    about: &'static str,
    provider: Provider,
    server: Server,
}

/// Server of a preset's models.
enum Server {
    /// In the program itself.
    None,
    /// At the provider's own address.
    Provider,
    /// At this address of a service.
    Service(&'static str),
    /// At an address of the person's own, usually this one.
    Own(&'static str),
}

/// The presets. Addresses as documented: <https://openrouter.ai/docs/quickstart>,
/// <https://docs.mistral.ai/api>, <https://console.groq.com/docs/openai>,
/// <https://docs.ollama.com/openai>, <https://lmstudio.ai/docs/app/api/endpoints/openai>,
/// llama.cpp's `tools/server/README.md`.
const PRESETS: &[Preset] = &[
    Preset { word: "offline", about: says::ABOUT_OFFLINE, provider: Provider::Offline, server: Server::None },
    Preset { word: "openai", about: "OpenAI", provider: Provider::OpenAi, server: Server::Provider },
    Preset { word: "anthropic", about: "Anthropic", provider: Provider::Anthropic, server: Server::Provider },
    Preset { word: "gemini", about: "Google Gemini", provider: Provider::Gemini, server: Server::Provider },
    Preset {
        word: "openrouter",
        about: "OpenRouter: models of many providers with one key",
        provider: Provider::OpenAi,
        server: Server::Service("https://openrouter.ai/api/v1"),
    },
    Preset {
        word: "mistral",
        about: "Mistral",
        provider: Provider::OpenAi,
        server: Server::Service("https://api.mistral.ai/v1"),
    },
    Preset {
        word: "groq",
        about: "Groq",
        provider: Provider::OpenAi,
        server: Server::Service("https://api.groq.com/openai/v1"),
    },
    Preset {
        word: "ollama",
        about: "Ollama, on this computer or another",
        provider: Provider::Ollama,
        server: Server::Own("http://localhost:11434"),
    },
    Preset {
        word: "lmstudio",
        about: "LM Studio",
        provider: Provider::OpenAi,
        server: Server::Own("http://localhost:1234/v1"),
    },
    Preset {
        word: "llama.cpp",
        about: "llama.cpp",
        provider: Provider::OpenAi,
        server: Server::Own("http://localhost:8080/v1"),
    },
    Preset {
        word: "other",
        about: "another server that speaks OpenAI's protocol",
        provider: Provider::OpenAi,
        server: Server::Own(""),
    },
];

impl Wizard<'_> {
    /// Asks for what flags and environment leave open of the model, and tests it.
    pub(super) fn ask_model(&mut self) -> Result<(), CliError> {
        let server = match self.options.provider {
            Some(_) => &Server::Provider,
            None => self.ask_preset()?,
        };
        if self.answers.provider == Provider::Offline {
            return Ok(());
        }
        let is_own = matches!(server, Server::Own(_));
        if self.answers.base_url.is_none() {
            match server {
                Server::Service(address) => self.answers.base_url = Some((*address).to_owned()),
                Server::Own(usual) => drop(self.ask_address(usual)?),
                Server::None | Server::Provider => {}
            }
        }
        // Most servers of one's own need none, and the test shows if this one does.
        if self.answers.api_key.is_none() && !is_own {
            self.ask_key()?;
        }
        let listed = if self.options.untested { Vec::new() } else { self.list_models()? };
        if self.answers.model.is_none() {
            self.ask_name(&listed)?;
        }
        if !self.options.untested {
            self.test_model(&listed)?;
        }
        self.ask_unknown(&listed, is_own)
    }

    fn ask_preset(&mut self) -> Result<&'static Server, CliError> {
        let lines: Vec<String> =
            (1..).zip(PRESETS).map(|(number, preset)| format!("{number:4}  {}", preset.about)).collect();
        print::print_remark(&format!("{}\n{}", says::WHICH_MODEL, lines.join("\n")));
        loop {
            let typed = self.dialogue.line(says::ASK_PROVIDER, "1")?.to_lowercase();
            let by_number = typed.parse().ok().and_then(|number: usize| PRESETS.get(number.checked_sub(1)?));
            match by_number.or_else(|| PRESETS.iter().find(|preset| preset.word == typed)) {
                Some(preset) => {
                    self.answers.provider = preset.provider;
                    return Ok(&preset.server);
                }
                None => print::print_remark(&says::no_such_number(PRESETS.len())),
            }
        }
    }

    /// Asks for the server's address until it is valid. Returns false if the line is empty.
    fn ask_address(&mut self, usual: &str) -> Result<bool, CliError> {
        let before = self.answers.base_url.clone();
        loop {
            let typed = self.dialogue.line(says::ASK_ADDRESS, usual)?;
            if typed.is_empty() {
                self.answers.base_url = before;
                return Ok(false);
            }
            self.answers.base_url = Some(typed);
            if self.is_valid()? {
                return Ok(true);
            }
        }
    }

    /// Asks for the key until it can be read. Returns false if the line is empty.
    fn ask_key(&mut self) -> Result<bool, CliError> {
        print::print_remark(says::ABOUT_KEY);
        self.ask_secret(says::ASK_KEY, KEY_FILE, |answers| &mut answers.api_key)
    }

    /// Lists the server's models, and asks again for the address or the key until it answers.
    fn list_models(&mut self) -> Result<Vec<ListedModel>, CliError> {
        loop {
            let config = self.model_config()?;
            match block_on(async { Ok(listing::list(&config).await) })? {
                Ok(listed) => return Ok(listed),
                Err(error) if !self.ask_again(&error)? => return Ok(Vec::new()),
                Err(_) => {}
            }
        }
    }

    /// Asks the model for a word, and asks again for what was wrong until it answers.
    fn test_model(&mut self, listed: &[ListedModel]) -> Result<(), CliError> {
        loop {
            print::print_remark(says::TESTING_MODEL);
            let config = self.model_config()?;
            let error = match block_on(async { Ok(probe::ask_model(&config).await) })? {
                Ok(()) => {
                    print::print_remark(says::MODEL_ANSWERS);
                    return Ok(());
                }
                Err(error) => error,
            };
            let is_changed = match error {
                ModelError::Later { .. } | ModelError::Cut | ModelError::BadKey | ModelError::NoCredit => {
                    self.ask_again(&error)?
                }
                error => {
                    print::print_remark(&with_fix(&error.to_string(), probe::fix_of(&error)));
                    print::print_remark(says::ENTER_KEEPS);
                    let typed = self.dialogue.line(says::ASK_MODEL, "")?;
                    if !typed.is_empty() {
                        self.answers.model = Some(self.chosen(&typed, listed));
                    }
                    !typed.is_empty()
                }
            };
            if !is_changed {
                return Ok(());
            }
        }
    }

    /// Asks again for the answer that caused the error. Returns false if it is to stay.
    fn ask_again(&mut self, error: &ModelError) -> Result<bool, CliError> {
        print::print_remark(&with_fix(&error.to_string(), probe::fix_of(error)));
        print::print_remark(says::ENTER_KEEPS);
        match error {
            ModelError::BadKey | ModelError::NoCredit => self.ask_key(),
            _ => self.ask_address(""),
        }
    }

    fn ask_name(&mut self, listed: &[ListedModel]) -> Result<(), CliError> {
        let shown = self.offered(listed);
        let question = match shown.is_empty() {
            true => says::ASK_MODEL,
            false => {
                let lines: Vec<String> =
                    (1..).zip(&shown).map(|(number, model)| format!("{number:4}  {}", model.name)).collect();
                print::print_remark(&says::models(&lines.join("\n"), listed.len() - shown.len()));
                says::ASK_MODEL_OR_NUMBER
            }
        };
        loop {
            let typed = self.dialogue.line(question, "")?;
            self.answers.model = Some(self.chosen(&typed, listed));
            if !typed.is_empty() && self.is_valid()? {
                return Ok(());
            }
        }
    }

    /// Returns the models to show: well-known ones first, then the others.
    fn offered<'a>(&self, listed: &'a [ListedModel]) -> Vec<&'a ListedModel> {
        let is_known = |model: &&ListedModel| self.known(&model.name).is_some();
        let (known, others): (Vec<&ListedModel>, Vec<&ListedModel>) = listed.iter().partition(is_known);
        known.into_iter().chain(others).take(MAX_SHOWN).collect()
    }

    /// Returns the name that a number of the list or a name means.
    fn chosen(&self, typed: &str, listed: &[ListedModel]) -> String {
        let by_number = typed
            .parse()
            .ok()
            .and_then(|number: usize| self.offered(listed).get(number.checked_sub(1)?).map(|model| model.name.clone()));
        by_number.unwrap_or_else(|| typed.to_owned())
    }

    fn known(&self, name: &str) -> Option<KnownModel> {
        known_model(self.answers.provider, self.answers.base_url.as_deref(), name)
    }

    /// Takes what the server said of the model, and asks for the rest.
    fn ask_unknown(&mut self, listed: &[ListedModel], is_own: bool) -> Result<(), CliError> {
        let name = self.answers.model.clone().unwrap_or_default();
        if self.known(&name).is_some() {
            return Ok(());
        }
        let said = listed.iter().find(|model| model.name == name);
        self.answers.context_window = said.and_then(|model| model.context_window);
        self.answers.images = said.and_then(|model| model.images);
        self.answers.price = said.and_then(|model| model.price);
        if self.answers.context_window.is_none() {
            self.ask_window()?;
        }
        if self.answers.images.is_none() {
            self.answers.images = Some(self.dialogue.yes(says::ASK_IMAGES)?);
        }
        if self.answers.price.is_none() && !is_own {
            self.answers.price = self.ask_price()?;
        }
        Ok(())
    }

    fn ask_window(&mut self) -> Result<(), CliError> {
        loop {
            let typed = self.dialogue.line(says::ASK_WINDOW, "")?;
            if typed.is_empty() {
                return Ok(());
            }
            self.answers.context_window = typed.parse().ok();
            match self.answers.context_window {
                None => print::print_remark(says::NO_NUMBER),
                Some(_) if self.is_valid()? => return Ok(()),
                Some(_) => {}
            }
        }
    }

    fn ask_price(&mut self) -> Result<Option<Price>, CliError> {
        loop {
            let typed = self.dialogue.line(says::ASK_PRICE, "")?;
            if typed.is_empty() {
                return Ok(None);
            }
            let amounts: Vec<u64> = typed.split_whitespace().filter_map(|amount| config::money(amount).ok()).collect();
            if let [input, output] = *amounts.as_slice() {
                return Ok(Some(Price { input, cached: input, output }));
            }
            print::print_remark(says::NO_PRICE);
        }
    }

    fn model_config(&self) -> Result<config::Model, CliError> {
        Ok(self.checked()?.1.model)
    }
}
