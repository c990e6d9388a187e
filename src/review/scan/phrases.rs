//! The English phrases of each rule. `tongues` holds the other languages, with the same rules.

/// The rows of one rule.
pub(super) struct Group {
    pub(super) rule: &'static str,
    /// The meaning, for the owner.
    pub(super) says: &'static str,
    /// The context that makes a match harmless.
    pub(super) unless: Unless,
    pub(super) rows: &'static [&'static str],
}

/// Context that makes a match harmless, in addition to being quoted as a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unless {
    /// None: the row itself contains the negation.
    Never,
    /// A prohibition: "never ignore …".
    Denied,
    /// A prohibition, condition or question: "once the owner has approved".
    DeniedOrConditional,
}

pub(super) const OVERRIDE: &str = "It tells the assistant to drop or replace its instructions.";
pub(super) const ROLE: &str = "It gives the assistant another role or a mode without limits.";
pub(super) const APPROVAL: &str = "It claims an approval, or tells the reviewer what to say.";
pub(super) const SECRECY: &str = "It asks to keep something from the person.";
pub(super) const EXFILTRATION: &str = "It asks to send private text to somewhere else.";
pub(super) const REACH: &str = "It tries to widen its own reach, or to change what only the owner may change.";

pub(super) const GROUPS: &[Group] = &[
    Group {
        rule: "override",
        says: OVERRIDE,
        unless: Unless::Denied,
        rows: &[
            "ignore|ignoring|disregard|disregarding|forget|forgetting|override|overrule|bypass|neglect|set_aside|put_aside|lay_aside|pay_no_attention_to|pay_no_heed_to|stop_following|stop_obeying|no_longer_follow|no_longer_obey|cease_to_follow|throw_away|throw_out|unlearn|do_away_with|break_free_from ..4 previous|prior|earlier|preceding|above|former|foregoing|original|initial|existing|old|past|your|system|built|safety|whatever|everything|developer|hidden ..4 instruction*|rule|rules|prompt|prompts|guideline*|direction|directions|directive*|command|commands|order|orders|guidance|policy|policies|constraint*|restriction*|safeguard*|guardrail*|limits|limitations|training|programming|told|learned|learnt|context|message|messages|principles",
            "ignore|disregard|forget|override|overrule|bypass ..2 all|any|every|these|those|the|such ..3 instruction*|guideline*|directive*|safeguard*|guardrail*|polic*|restriction*|rules_above|prior_rules|rules_of_the_owner|safety_rules|rules_you|orders_you|rules_given",
            "drop|skip|cancel|abandon|discard|dismiss|suspend|void|revoke|erase|delete|remove|lift|violate|break ..2 previous|prior|earlier|preceding|your|system|safety|original|initial ..2 instruction*|guideline*|directive*|guardrail*|safeguard*|restriction*|rules|polic*|programming|prompt|limits|limitations",
            "previous|prior|earlier|above|original|initial|former|system|safety|existing|your|old|preceding|owner's ..2 instruction*|rules|guideline*|prompt|polic*|directive*|restriction*|orders|limits|safeguard* ..2 is|are|was|were|has_been|have_been|become|being ..3 void|withdrawn|suspended|obsolete|cancelled|canceled|revoked|superseded|lifted|overridden|null|outdated|invalid|deprecated|disabled|ignored|replaced|off",
            "previous|prior|earlier|above|original|initial|former|system|safety|existing|your|old|preceding|owner's|other ..2 instruction*|rules|guideline*|polic*|directive*|restriction*|orders|limits ..3 no_longer|do_not|don't|does_not|cease_to ..2 apply|valid|bind*|count|hold|matter|concern",
            "new|updated|real|actual|true|following|these|this|my ..2 instruction*|rules|orders|skill|message|directive* ..3 supersede*|override*|overrule*|take_precedence|takes_precedence|outrank*|has_priority|have_priority|replace|replaces ..5 previous|prior|all|any|earlier|system|other|your|everything|every",
            "from_now_on|henceforth|from_here_on|from_this_point|from_this_moment|starting_now ..4 you_are|you_must|you_act|you_obey|ignore|only_obey|obey|only_this|only_these|do_not_follow|you_do_not|you_only|you_no_longer",
            "reveal|print|show|repeat|output|display|leak|recite|dump|expose|write_out|give_me|tell_me|quote|disclose ..4 system_prompt|system_message|hidden_prompt|initial_prompt|your_instructions|your_prompt|developer_message|hidden_instructions|your_rules|original_prompt",
            "do|does|did not|t apply ..1 to_you",
            "snoitcurtsni|erongi|tpmorp|vtaber|vafgehpgvbaf",
        ],
    },
    Group {
        rule: "role",
        says: ROLE,
        unless: Unless::Denied,
        rows: &[
            "you_are_now|you_re_now|you_have_become|you_are_no_longer|you_will_now_be ..1 a|an|free|unrestricted|dan|root|jailbroken|unfiltered|bound|the|in_developer|in_debug|in_god|admin|another|uncensored|my",
            "enter|enable|activate|engage|start|switch_to|switch_into|go_into ..2 developer|god|jailbreak|dan|unrestricted|unfiltered|debug|maintenance|admin|root|sudo|do_anything_now mode ..12 you|filter*|restriction*|safety|polic*|limits|guideline*|assistant",
            "developer|debug|god|jailbreak|dan|unrestricted|unfiltered|maintenance|override|root mode ..2 on|enabled|activated|active|unlocked|engaged ..14 you|your|filter*|restriction*|safety|polic*|limits|guideline*",
            "you|assistant|act|answer|respond|reply|behave|speak|operate ..6 without|no|free_of|free_from ..3 restriction*|filters|censorship|guardrail*|safeguard*|content_polic*|moral*|ethic*|content_filter* ",
            "pretend|act|behave|answer|respond as_if|like|as_though|that|to_be ..4 no|without|any ..2 rules|restriction*|polic*|guideline*|limitations|filters",
            "you ..2 do_anything_now|jailbroken|unshackled|uncensored",
            "act|operate|function|behave ..1 as ..2 root|administrator|superuser|the_owner|the_system|unrestricted|developer ..8 no|without|all|every|any|obey|and",
        ],
    },
    Group {
        rule: "approval",
        says: APPROVAL,
        unless: Unless::DeniedOrConditional,
        rows: &[
            "owner|admin*|user|person|reviewer|maintainer|moderator|operator|gate|security_team|human|developer|creator ..2 has|have|had|already|was ..2 approved|authorized|authorised|accepted|signed_off|consented|cleared|preapproved|vetted|agreed|given_permission|given_consent|granted",
            "owner|user|person|admin*|operator ..2 gave|gives|granted|grants ..4 approval|permission|consent|green_light|go_ahead|blessing|authori*",
            "already|pre|previously|fully|officially ..1 approved|authorized|authorised|vetted|reviewed|audited|whitelisted|signed_off|cleared ..3 by ..3 owner|admin*|security|reviewer|team|user|person|maintainer*|human|gate|operator",
            "this|the ..1 skill|proposal|patch|edit|diff|submission ..2 is|was|has_been|be|been ..2 harmless|benign|trusted|preapproved|pre_approved|approved|vetted|audited|whitelisted|certified|verified|reviewed",
            "no ..2 review|approval|sign_off|second_look ..1 is|are|needed|required|necessary",
            "skip|bypass|circumvent|evade|disable|suppress|shortcut ..2 review|approval|gate|security_scan|scan|scanner|reviewer|human_review|owner's_approval",
            "reviewer|reviewing_model|review_model|judge|classifier|scanner|moderator|auditor ..5 answer|say|reply|respond|return|output|mark|rate|classify|label|conclude|vote|print|report|should ..6 safe|approved|approve|pass|harmless|benign|clean|ok|okay",
            "answer|respond|reply|return|output|say|write|give|produce|set ..4 verdict ..3 safe|approved|approve|pass",
            "if_you ..3 review|reviewing|judge|check|evaluate|assess|audit ..8 answer|say|reply|safe|approve|pass",
            "apply|activate|install|enable|merge|publish ..3 without ..2 review|approval|asking_the_owner|being_shown|the_owner|human",
            "counts|count|treat ..4 as ..2 owner's|the_owner's|approved|an_approval|approval",
        ],
    },
    Group {
        rule: "secrecy",
        says: SECRECY,
        unless: Unless::Never,
        rows: &[
            "not|t|never|avoid|without|refrain_from ..1 tell|telling|inform|informing|notify|notifying|alert|alerting|warn|warning|let|letting ..2 user|person|owner|human|them|him|her|anyone|anybody|people|operator|admin|someone ..1 about|of|know|notice|END|or|and|anything|any|that_you|that_this|that_it|why_you|what_you|when_you|because",
            "not|t|never|avoid|without|refrain_from ..1 mention|mentioning|reveal|revealing|disclose|disclosing|admit|admitting|discuss|discussing|report|reporting|show|showing|expose|say|saying ..5 to ..1 user|owner|person|anyone|them|anybody|human|operator",
            "not|t|never|without ..1 mention|mentioning|reveal|disclose|admit|discuss|talk_about ..1 this|that|these|any_of_this|the ..1 instruction*|skill|step|transfer|upload|request|copy|rule|rules|text|part",
            "keep|keeping ..2 this|it|that|these|all_of_this ..2 to_yourself|between_us|quiet|hidden_from|secret_from|private_from|from_the|a_secret|unmentioned|out_of_the_chat",
            "hide|conceal|withhold|cover_up ..3 this|it|that|these|your|what_you|the_fact|all ..6 from ..1 user|owner|person|them|human|anyone|everyone|operator|view",
            "silently|secretly|covertly|stealthily|invisibly|in_secret|unnoticed|surreptitiously ..1 send|sends|sending|upload|forward|copy|append|add|include|insert|post|transmit|email|mail|store|save|write|record|collect|gather|fetch|download|install|run|execute|change|edit|modify|share|report|attach|read",
            "quietly|discreetly ..1 send|sends|sending|upload|forward|copy|append|post|transmit|email|mail|collect|attach|install|download",
            "send|upload|forward|copy|append|post|transmit|email|mail|collect|install|download|report|attach|pass ..8 secretly|covertly|silently|unnoticed|without_a_word|without_notice|without_mentioning|without_telling|without_informing",
            "user|person|owner|they|human|operator|people must|should|shall|need|will ..1 not|never|t ..1 know|notice|find_out|learn|be_told|be_aware|see_this|see_it|hear|realise|realize|discover",
            "nobody|no_one|no_human must|should|may|needs_to|has_to|will|shall ..2 know|notice|learn|hear|find_out|see",
            "stay|remain|keep|be quiet|silent|tight_lipped|mum ..1 about|on ..2 this|that|it|these",
            "no_need_to|don't_need_to|need_not tell|inform|notify ..3 user|person|owner|them|anyone ..1 about|of|that",
            "without ..2 user's|person's|owner's|their|his|her ..1 knowledge|awareness|knowing|noticing",
            "without ..1 the|any ..1 user|person|owner|one ..1 knowing|noticing|seeing|realising|realizing",
        ],
    },
    Group {
        rule: "exfiltration",
        says: EXFILTRATION,
        unless: Unless::Denied,
        rows: &[
            "send|sends|sending|post|posts|upload|uploads|uploading|forward|forwards|forwarding|transmit|exfiltrate|submit|leak|email|mail|push|report|copy|deliver|transfer|sync|publish|smuggle|append|attach|embed|encode|put|pass|relay|ship|drop|share|deposit ..12 memory_md|user_md|soul_md|agents_md|memory_file|memories|memory|your_secrets|all_secrets|api_keys|all_keys|every_key|your_keys|all_tokens|access_tokens|passwords|password|passphrase*|credential*|private_key*|ssh_key*|id_rsa|id_ed25519|cookies|conversation|conversations|chat_history|chat_log*|message_history|transcript*|diary|personal_data|personal_information|bank_details|account_number*|credit_card*|card_number*|system_prompt|you_know_about|you_remember|environment_variables|keychain|wallet|seed_phrase|one_time_code*|env_file|private_messages|private_notes ..16 URL",
            "send|post|upload|forward|transmit|submit|email|mail|push|report|write|call|request|fetch|open|visit|load|get ..6 URL ..16 memory_md|user_md|soul_md|your_memory|memories|your_secrets|api_keys|all_keys|your_keys|access_tokens|passwords|password|credential*|private_key*|ssh_key*|cookies|conversation|conversations|chat_history|chat_log*|message_history|transcript*|diary|personal_data|bank_details|credit_card*|system_prompt|you_know_about|you_remember|environment_variables|seed_phrase",
            "collect|gather|find|take|read|note|save|record|copy|list|extract ..4 secrets|api_keys|keys|tokens|passwords|password|credential*|conversation*|message*|contacts|memories|memory|memory_md|user_md ..14 send|email|mail|upload|post|forward|submit|transmit|deliver|pass ..1 it|them|these|those|this|all|everything ..3 to ..3 URL",
            "exfiltrate|smuggle|steal|harvest ..6 memory|secret*|key|keys|token*|password*|credential*|data|files|conversation*|message*|contacts|cookies",
            "send|forward|mail|email|post|upload|bcc|cc|copy ..2 every|each|all|any|copies_of|a_copy_of ..2 message|messages|conversation|conversations|reply|replies|note|notes|mail|mails|email|emails|file|files|entry|entries|password*|photo|photos ..6 to ..6 URL|number|49|44|1",
            "memory_md|user_md|soul_md|api_keys|private_key*|passwords|chat_history|system_prompt ..10 query|parameter|address|url|image|link|subdomain|hostname ..8 URL|load|fetch|open|render|show",
        ],
    },
    Group {
        rule: "reach",
        says: REACH,
        unless: Unless::DeniedOrConditional,
        rows: &[
            "edit|change|modify|append|add|write|insert|update|overwrite|replace|rewrite|put|place|alter|patch|extend|delete|copy|record|note|save|store|include|paste ..10 agents_md|soul_md|heartbeat_md|compline_toml|skills_folder|skills_directory|skill_folder|approval_settings|review_settings|tainted_review_mode|review_mode|approval_policy|other_skills",
            "always|permanently|automatically|unconditionally ..1 load|open|activate|invoke|include|keep|consult|read|preload|run ..2 this ..1 skill|page|file|document|text",
            "load|use|apply|run|follow|read|activate|open|consult|invoke|execute|keep|include|repeat|inject ..1 this|these|it ..1 skill|page|file|instruction*|rules|text|document|for|on|at|before|in|with ..5 every|each|any|all ..1 message|messages|turn|turns|conversation|conversations|reply|replies|answer|answers|response|responses|chat|prompt|request|requests|session|sessions",
            "this|these skill|rules|instruction*|file|page|document ..3 override*|outrank*|take_precedence|takes_precedence|has_priority|have_priority|beat|beats|trump|trumps|come_first|comes_first ..6 all|every|any|other|owner*|user*|system|your|everything|agents|soul",
            "give|grant|allow ..1 yourself|itself|this_skill ..4 access|permission*|rights|privilege*|all|every",
            "disable|turn_off|switch_off|deactivate|weaken|loosen|relax ..3 approval|approvals|review_stage|reviewer|gate|safety|taint|security_check*|confirmations|guardrail*|safeguard*|egress|scan|scanner",
            "for every|each|any message|turn|reply|answer|response ..4 load|use|follow|apply|run|open|consult|append|include|add|send ..3 this|skill|these",
        ],
    },
];
