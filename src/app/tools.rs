//! Assembly of the assistant's tools.

use std::sync::Arc;

use crate::config::Config;
use crate::memory::{Index, Recollection, Vectors, Workspace};
use crate::review::Review;
use crate::store::Journal;
use crate::tool::files::{EditFile, ListFiles, ReadFile, WriteFile};
use crate::tool::knowledge_tools::KnowledgeStore;
use crate::tool::load_skill::{LoadSkill, LoadSkillResource};
use crate::tool::memory_recall::MemoryRecall;
use crate::tool::memory_save::MemorySave;
use crate::tool::memory_search::MemorySearch;
use crate::tool::memory_section::MemorySection;
use crate::tool::react::React;
use crate::tool::read_reflection::ReadReflection;
use crate::tool::recall::Recall;
use crate::tool::remember::Remember;
use crate::tool::remind::Remind;
use crate::tool::schedule::ScheduleTask;
use crate::tool::scheduled::{CancelScheduled, ListScheduled};
use crate::tool::send_file::SendFile;
use crate::tool::submit_skill::SubmitSkill;
use crate::tool::web::{Fetcher, Limits};
use crate::tool::web_fetch::WebFetch;
use crate::tool::{ScheduleStore, Tool, Toolbox};

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
    later: ScheduleStore,
    vectors: Option<&Vectors>,
    fetcher: Option<Fetcher>,
) -> anyhow::Result<Toolbox> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(Recall::new(
            Recollection::new(journal.clone(), vectors.cloned(), &config.agent.name).in_zone(config.zone),
            config.zone,
        )),
        Arc::new(ReadReflection::new(journal.clone())),
        Arc::new(LoadSkill::new(review.clone())),
        Arc::new(LoadSkillResource::new(review.clone())),
        Arc::new(SubmitSkill::new(review.clone())),
        Arc::new(Remind::new(later.clone())),
        Arc::new(ScheduleTask::new(later.clone())),
        Arc::new(ListScheduled::new(later.clone())),
        Arc::new(CancelScheduled::new(later)),
        Arc::new(SendFile::new(journal.clone(), tree.clone())),
        Arc::new(React::new(journal.clone())),
    ];
    if config.tools.web_fetch {
        let fetcher = match fetcher {
            Some(fetcher) => fetcher,
            None => Fetcher::new(Limits::default())?,
        };
        tools.push(Arc::new(WebFetch::new(fetcher)));
    }
    Ok(Toolbox::new(tools))
}

/// Builds the tools that read, change and search knowledge. File tools are always available; memory
/// tools can be switched off.
pub(super) fn knowledge_tools(
    config: &Config,
    index: &Index,
    journal: &Journal,
    keeping: &KnowledgeStore,
) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(ReadFile::new(keeping.clone())),
        Arc::new(WriteFile::new(keeping.clone())),
        Arc::new(EditFile::new(keeping.clone())),
        Arc::new(ListFiles::new(keeping.clone())),
    ];
    if config.memory.enabled {
        tools.push(Arc::new(Remember::new(keeping.clone())));
        tools.push(Arc::new(MemorySave::new(keeping.clone())));
        tools.push(Arc::new(MemorySection::new(keeping.clone())));
        tools.push(Arc::new(MemorySearch::new(index.clone(), journal.clone(), config.zone)));
        tools.push(Arc::new(MemoryRecall::new(index.clone(), journal.clone(), config.zone)));
    }
    tools
}
