//! Assembly of the assistant's tools.

use std::sync::Arc;

use crate::config::Config;
use crate::memory::{Index, Recollection, Workspace};
use crate::review::Review;
use crate::store::Journal;
use crate::tool::knowledge::KnowledgeStore;
use crate::tool::memory_search::{MemoryRecall, MemorySearch, SearchSources};
use crate::tool::read_reflection::ReadReflection;
use crate::tool::schedule::ScheduleStore;
use crate::tool::web::{Fetcher, Limits, WebFetch};
use crate::tool::{Tool, Toolbox, attachments, files, knowledge, schedule, skills};

/// Builds the tools for conversations, skills, schedules and outgoing files.
///
/// # Errors
///
/// If the client for web pages cannot be set up.
pub(super) fn toolbox(
    config: &Config,
    journal: &Journal,
    tree: &Workspace,
    review: &Review,
    later: &ScheduleStore,
    fetcher: Option<Fetcher>,
) -> anyhow::Result<Toolbox> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(ReadReflection::new(journal.clone()))];
    tools.extend(skills::tools(review));
    tools.extend(schedule::tools(later));
    tools.extend(attachments::tools(journal, tree));
    if config.tools.web_fetch {
        let fetcher = match fetcher {
            Some(fetcher) => fetcher,
            None => Fetcher::new(Limits::default())?,
        };
        tools.push(Arc::new(WebFetch::new(fetcher)));
    }
    Ok(Toolbox::new(tools))
}

/// Builds the tools that read, change and search knowledge. File tools and the search of past
/// conversations are always available; the other memory tools can be switched off.
pub(super) fn knowledge_tools(
    config: &Config,
    index: &Index,
    journal: &Journal,
    keeping: &KnowledgeStore,
) -> Vec<Arc<dyn Tool>> {
    let messages =
        Recollection::new(journal.clone(), index.vectors().cloned(), &config.agent.name).in_zone(config.zone);
    let index_if_enabled = config.memory.enabled.then(|| index.clone());
    let sources = SearchSources { messages, index: index_if_enabled, journal: journal.clone(), zone: config.zone };
    let mut tools = files::tools(keeping);
    if config.memory.enabled {
        tools.extend(knowledge::tools(keeping));
        tools.push(Arc::new(MemoryRecall::new(sources.clone(), index.clone())));
    }
    tools.push(Arc::new(MemorySearch::new(sources)));
    tools
}
