### English. Each other file of this folder has the same sentences with the same variables.

language-name = English
language-in-english = English

## Times

day-and-time = { $weekday ->
    [1] Monday
    [2] Tuesday
    [3] Wednesday
    [4] Thursday
    [5] Friday
    [6] Saturday
   *[7] Sunday
}, { $day } { $month ->
    [1] January
    [2] February
    [3] March
    [4] April
    [5] May
    [6] June
    [7] July
    [8] August
    [9] September
    [10] October
    [11] November
   *[12] December
} { $year }, { $time }
span-seconds = { $count ->
    [one] 1 second
   *[other] { $count } seconds
}
span-minutes = { $count ->
    [one] 1 minute
   *[other] { $count } minutes
}
span-hours = { $count ->
    [one] 1 hour
   *[other] { $count } hours
}
span-days = { $count ->
    [one] 1 day
   *[other] { $count } days
}

today = today
tomorrow = tomorrow
yesterday = yesterday
weekday = { $weekday ->
    [1] Monday
    [2] Tuesday
    [3] Wednesday
    [4] Thursday
    [5] Friday
    [6] Saturday
   *[7] Sunday
}
near-time = { $day } { $time }
far-time = { $day }, { $time }
short-day = { $weekday ->
    [1] Mon
    [2] Tue
    [3] Wed
    [4] Thu
    [5] Fri
    [6] Sat
   *[7] Sun
} { $day } { $month ->
    [1] Jan
    [2] Feb
    [3] Mar
    [4] Apr
    [5] May
    [6] Jun
    [7] Jul
    [8] Aug
    [9] Sep
    [10] Oct
    [11] Nov
   *[12] Dec
}
day-of-year = { $day } { $year }

## Numbers

digit-separator = ,
decimal-sign = .

## Strangers, and people who come in

bot-description = A private assistant: it answers, remembers and reminds. If you were given a pairing code, press Start and send it as: /start CODE
stranger = This is a private assistant. If you were given a pairing code, send it as: /start CODE
code-refused = That code is not valid. It may be used up or too old; ask for a new one.
code-too-many = Too many wrong codes for today. Please try again tomorrow.
welcome = Welcome, { $name }. You are in as { $role ->
    [owner] owner
   *[member] member
}. I am { $agent }: just write to me. /help shows what else there is.
greeting = You are in, { $name }. I am { $agent }: just write to me. /help shows what else there is.
role-raised = You are { $role ->
    [owner] owner
   *[member] member
} now.
join-as-less = That code belongs to a person who is not an owner. I did not use it: everything that you ever told me would have become theirs.
join-in-configuration = This address is set in the configuration. To link it to another person, move it there.
join-later = I am still answering you here. Send the code again when I am done.
join-means = This code links you to { $name }: everything that you say to me here becomes { $name }'s, who can read it, and so does what you said before if this is your only address. From then on you have access as { $name }. If you are { $name }, send the code once more. If somebody asked you to type it, do not.
joined = From now on you are { $name } here too, with one conversation wherever you write from.

## Messages that cannot be taken, and groups

unsupported = I cannot take { $kind ->
    [contact] a contact
    [place] a place
    [location] a location
    [poll] a poll
    [dice] a dice
    [game] a game
    [invoice] an invoice
    [story] a story
    [checklist] a checklist
    [paid-media] paid media
    [giveaway] a giveaway
    [gift] a gift
    [passport] a passport
    [sticker] a sticker
    [photo] a photo
    [payment] a payment
    [missing-file] a file that did not arrive with its message
   *[unknown] something of a kind that bots cannot see
} yet. Please send it as text, a photo, a voice note or a file.
message-too-long = Your message has { $characters } characters, and I can take { $most } at once. It is kept, but not answered; please send it in parts or as a file.
queue-full = You have a great many messages waiting. I left this one unanswered; please wait until I have caught up.
group-begins-anew = The next message here begins a new conversation.
group-owner-forgets = Only the owner can delete everybody's messages here. Without the word `messages` I forget what is kept for this group; you can delete your own messages in the group.
group-answered-in-private = I have answered that in our direct chat.
group-write-first = I answer that in our direct chat only. Write to me there first.
group-only-here = What you just wrote in a group counts only here, in our direct chat. Say it here if you meant it.

## Deliveries

delivery-given-up = Some of my messages could not be delivered here for more than a week, so I gave up on them. My answers are kept: ask me for any you missed.
delivery-set-aside = A message of mine could not be delivered here, although others could. I set it aside so that the rest goes on; /resend tries it again.
delivery-set-aside-in-group = A message of mine could not be delivered here, although others could. I set it aside so that the rest goes on; an owner can send it again with /resend.

## Questions before something leaves

may-i = May I do these { $count } things?
may-i-agree = Send /yes { $question } within { $minutes } minutes to agree; anything else means no.
may-i-agree-to-all = Send /yes { $question } within { $minutes } minutes to agree to all of them; anything else means no.
may-i-agree-own = Answer yes, or send /yes { $question }, within a day to agree.
may-i-agree-to-all-own = Answer yes, or send /yes { $question }, within a day to agree to all of them.
may-last = /yes { $question } 10 covers ten such calls, /yes { $question } new all of them until /new: of this tool, with exactly these arguments, and no longer once anything else from outside comes in. /trust off takes it back.
may-last-varying = With vary after it (/yes { $question } 10 vary, /yes { $question } new vary) { $differ } in these calls, and nothing else: text without addresses, paths and numbers that something could go to.
may-differ = { $names } may differ
may-i-open = Open this address at `{ $host }`, and no other? Nobody here typed it.
may-i-open-it = Open this address?
may-i-send = Send this to the tool { $tool } of { $server }?
may-i-use = Use { $tool } with this?
may-i-remind = Remind you of { $words } { $when }?
may-i-schedule = Do { $words } by myself, { $when }?
may-i-cancel = Cancel { $kind ->
    [task] the task
   *[reminder] the reminder
} "{ $words }" { $when }?
may-i-cancel-this = Cancel this { $kind ->
    [task] task
   *[reminder] reminder
} { $when }?
which-yes = Tap *Yes* under the question that you mean, or send { $commands }.
may-i-take-away = Change `{ $path }`? Lines of yours go (−).
may-i-change = Change { $kind ->
    [task] the task
   *[reminder] the reminder
} "{ $words }" { $when }, so that it comes { $then }?
may-i-change-this = Change { $kind ->
    [task] the task
   *[reminder] the reminder
} { $when } to this, so that it comes { $then }?
may-i-close = Close the open item "{ $words }"?
may-i-close-this = Close this open item?
may-i-tick = Tick "{ $words }" in your HEARTBEAT.md?
may-i-tick-this = Tick this item in your HEARTBEAT.md?
question-this = this
question-on-day = on { $when }
question-of-day = of { $when }
question-that-comes = that comes { $when }
question-again = { $recurrence } (next { $next })
question-again-until = { $recurrence }, until { $until } (next { $next })
recurs-as = repeatedly, on the schedule `{ $cron }`
recurs-hourly = every hour, at minute { $minute }
recurs-daily = every day at { $times }
recurs-on-workdays = Monday to Friday at { $times }
recurs-weekly = every { $days } at { $times }
recurs-monthly = on day { $day } of each month at { $times }
question-words-now = now
question-words-then = then
question-unnamed = { $skills ->
    [one] The loaded skill ({ $loaded }) does not name { $names }.
   *[other] None of the loaded skills ({ $loaded }) names { $names }.
}
question-or = or
reason-destination = A yes counts for that host or recipient until /new.
reason-outside = I ask because I have read text from outside ({ $sources }).
reason-skill = I ask because I am using a third-party skill.
reason-sent = I ask because I have read what you sent.
way-out-new = /new starts without that text.
way-out-trust = /new starts without that text, and /trust lets you vouch for what you sent.
used-under-yes = I used { $tool } { $calls ->
    [one] under your yes
   *[other] { $calls } times under your yes
}; { $left }.
used-until-new = until /new
used-asks-again = I ask again from now on
used-left = { $left } more without a question
source = { $kind ->
    [web] text from the web, { $detail }
    [file] the content of a file
    [forward] text forwarded from another person
    [quote] a quote from another person
    [preview] the preview of a web page
    [contact] a contact card
    [poll] a poll
    [location] a place on the map
    [restored] a file that was found after a restore
    [via_bot] words that another bot wrote
    [stdin] text that was piped in
    [pasted] text that was pasted in
    [tool] output of the outside tool { $detail }
    [guest] the words of guest { $detail }
    [stranger] the name that a stranger gave themselves
    [import] something brought in from elsewhere
    [folder] a file in the skills folder
   *[unknown] text of unknown origin
}
# Lower case, without punctuation, separated by commas: what a person types for yes.
typed-yes = yes, yes please, yes do, yes do it, y, yep, yeah, yup, sure, ok, okay, please do, do it
button-yes = Yes
button-yes-ten = Yes, 10× the same
button-yes-until-new = Yes, same until /new
button-yes-ten-varying = 10×, other { $names }
button-no = No

## Answers to questions

goes-on = OK, I will do that.
left-alone = OK, I will not do that.
question-over = That question is over, so nothing was done. Ask me again if it still matters.
yes-already = You said yes to that already. It counted; this changed nothing.
no-such-question = You were not asked a question with that number.

## What is kept

keep-this = **Keep this?** I was about to remember the following, but words from outside had a part in it ({ $sources }). Until you say yes, I read it only if asked.
keep-this-file = **Keep this in `{ $path }`?** These lines are in the file, and words from outside had a part in them ({ $sources }). Until you say yes, they count as from outside.
keep-instead-of = It takes the place of “{ $old }”.
keep-how = `/yes { $question }` makes exactly these words yours: they count as if you had told me. `/no { $question }` leaves them where they are. You have { $time } to answer.
keep-later-head = **Keep this?** I was about to remember more, but words from outside had a part in it, and it is too long to show here. I do not read it unless asked:
keep-later = - `{ $path }`: `/promote { $name }` shows it
keep-waits = { $path } is not yours yet: the files of the memory cannot be written just now. It becomes yours as soon as they can; you need do nothing. `compline doctor` says what is wrong.
keep-stuck = I could not make { $path } yours: the files of the memory cannot be written just now. `compline doctor` says what is wrong; /memory shows what is there, and /promote tries again.
keep-changed = Nothing was kept: what lies there now is not what you were shown. /memory lists what came from outside, and /promote shows it.
agent-memories = What agents and profiles have learned about you. What is on comes to mind by itself; what is off stays stored, and your search finds it.
agent-memories-none = No other agent or profile has learned anything about you.
agent-memory = { $state ->
    [own] - **{ $name }**, { $size }: in use
    [on] - **{ $name }**, { $size }: on
   *[off] - **{ $name }**, { $size }: off
}
agent-memory-how = `{ $command }` switches one.
agent-memory-unknown = No other agent or profile is named { $name }. `{ $list }` lists them.
agent-memory-own = { $name } is in use, so what it has learned always comes to mind.
agent-memory-switched = { $on ->
    [yes] What { $name } has learned comes to mind from now on.
   *[no] What { $name } has learned no longer comes to mind. It stays stored, and your search finds it.
}
promoted = Done: { $path } is yours now. { $then }
promoted-instead = Done: { $path } is yours now, instead of “{ $old }”. { $then }
memory-read = I know it from the next message on.
memory-unread = Memory is switched off, so I do not read it unless asked.
keep-left = It stays where it is, and I do not read it unless asked.
button-keep = Keep it
button-leave = Leave it

## Settings

settings = - language: { $language } (`/settings language CODE`: { $codes })
    - time zone: { $zone }, where it is { $time } (`/settings timezone AREA/CITY`)

    `auto` in place of a value ends your choice.
settings-button = { $command ->
    [whoami] My account
    [link] Another device
    [usage] Usage
   *[export] Export my data
}
language-chosen = I write to you in { $language } from now on.
zone-chosen = Your time zone is { $zone } now; it is { $time } there.
no-such-language = I do not know the language { $word }. I know: { $known }.
no-such-zone = I do not know the time zone { $word }. Write it as Area/City, such as Europe/Vienna.
no-such-zone-near = I do not know the time zone { $word }. Did you mean { $near }?

## Turns without an ordinary answer

answer-empty = (I had nothing to say to that. Please ask again in other words.)
answer-cut = _(The answer reached the length limit and ends here. Write "go on" for the rest.)_
answer-only-thoughts = (I thought until the limit of one answer was used up, and wrote nothing. Please ask in smaller steps; an owner can raise `max_output`.)
answer-broke-off = _(The answer broke off here. Write "go on" for the rest.)_
answer-strange-address = _(Careful: an address with [.] in it appears in nothing that you or a source wrote. I changed it so that it cannot be tapped; do not open it unless you know it.)_
answer-late = _This answers what you wrote { $delay } ago ({ $said }); it had to wait until now._
answer-late-away = _I was away, so this answers what you wrote { $delay } ago ({ $said })._
model-refused = The model provider declined to answer that.
model-too-long = That is more than the model can read at once. Please send less, or begin a new conversation with /new.
model-bad-key = The model provider refuses our key.
model-no-credit = The account with the model provider has no credit left.
model-rejected = The server of the model refuses this request, so I cannot answer it. An owner sees the reason with /status.
model-rejected-because = The server of the model refuses this request: `{ $why }`. Asking again will not help until that is changed; `compline doctor` tries the model in full.
model-slow = The server of the model is slow: it said nothing for as long as `patience` allows. I wait longer each time.
model-unreachable = The model cannot be reached at the moment.
model-away = { $why } Your message is kept, and I will answer as soon as I can.
model-still-away = { $why } No answers since { $since }. Messages waiting: { $waiting }. I will answer as soon as I can.
model-away-too-long = { $why } I tried for a whole day and have stopped. Please ask again once that is fixed.
turn-cut-off = I was interrupted several times while working on this, so I stopped. Please ask again, perhaps in another way; the log has the details.
turn-too-long = I stopped, because the answer took longer than { $limit }. Please ask again, perhaps for less at a time.
files-unreadable = I cannot read { $names }, so I answer without what it says. `/memory history NAME` shows earlier versions, and how to put one back.
messages-too-old = { $count ->
    [one] A message of yours waited for more than a day. I left it unanswered; send it again if it still matters.
   *[other] { $count } messages of yours waited for more than a day. I left them unanswered; send again what still matters.
}
messages-too-old-away = { $count ->
    [one] A message of yours waited for more than a day while I was away. I left it unanswered; send it again if it still matters.
   *[other] { $count } messages of yours waited for more than a day while I was away. I left them unanswered; send again what still matters.
}
was-away = I was away for { $absence }; older messages may be missing. Please send again what I did not answer.

## Budgets

budget = { $which ->
    [person] your share of today's budget
    [group] this group's share of today's budget
    [background] today's budget for background work
    [reserve] the part of today's budget that is not kept for the owners
   *[daily] today's budget
}
over-budget = I did not answer, because { $budget } is used up. It resets at midnight; an owner can raise it in the configuration.
above-limit = I did not answer, because one answer may take more than `{ $setting }` under [budget] allows for a whole day; waiting does not help. A new conversation (/new) takes less, and an owner can raise the limit in the configuration.
unheard-over-budget = I did not listen to your voice note, because { $budget } is used up. It resets at midnight; an owner can raise it in the configuration.
unheard-above-limit = I did not listen to your voice note, because hearing it may take more than `{ $setting }` under [budget] allows for a whole day; waiting does not help. A shorter one takes less, and an owner can raise the limit in the configuration.

## Marks, files, and decisions in place of buttons

mark-repeated = (possibly repeated)
mark-closed = (no longer open)
mark-blank = (blank)
file-changed = (The file { $name } was deleted or changed in the meantime, so it was not sent.)
file-not-taken = (The file { $name } cannot be sent here. It lies in the workspace: { $path })
decision-allowed = Allowed
decision-not-allowed = Not allowed
decision-expired = Expired
question-unanswered = You didn't answer my question in time, so I have done nothing of what it asked. Tell me again if you still want it.
decision-kept = Kept
decision-not-kept = Not kept
decision-approved = Approved
decision-rejected = Rejected
decision-withdrawn = Withdrawn
decision-changed = Changed meanwhile
decision-not-applied = Not applied
decision-let-in = Let in
decision-ignored = Ignored
room-nearly-full = Your files take up { $used }, and may take up { $most } here. Please delete what you no longer need: when the space is full, I cannot keep new files.
room-full = There is no space for this file, so it was not stored: your files take up { $used }, and may take up { $most } here. Delete what you no longer need, and send it again.
followed-by-hand = What you wrote into { $path } counts everywhere now, instead of “{ $old }”. `/memory history NAME` shows what was there.
edit-merged = { $path } was saved in an editor that had an older version open. I kept what you changed, and put back what was written meanwhile: “{ $lines }”.
edit-merged-shorter = { $path } was saved in an editor that had an older version open. I kept what you changed, and left out what was removed meanwhile.
notes-unlisted = { $count ->
    [one] The note is gone, so I took its line out of the index: “{ $lines }”.
   *[other] The notes are gone, so I took their lines out of the index: “{ $lines }”.
}

## Reminders

reminder = **Reminder:** { $words }
reminder-from-outside = A reminder that you agreed to, written after I had read { $sources }.
reminder-late = Due earlier: { $due }; it could not come sooner.
reminder-late-more = Due earlier: { $due }, and { $count ->
    [one] once more
   *[other] { $count } times more
} since; it could not come sooner.
reminder-late-many = Due earlier: { $due }, and { $count } times or more since; it could not come sooner.
button-done = Done
button-later = +1 h
reminder-done = Done.
reminder-done-until = Done. It comes again { $next }.
reminder-later = I will remind you again { $when }.
reminder-later-already = It is set again already. /reminders shows the time.
reminder-not-come = Number { $id } has not come yet. To change its time, ask for it in your own words.
reminder-unknown = There is no reminder or task { $id }. The list of reminders shows the numbers.
reminder-cancelled = Cancelled { $kind ->
    [task] task
   *[reminder] reminder
} { $id }: { $words }{ $time }.
reminders-none = There are no reminders. Ask me to remind you of something, or to do something every morning.
reminders-zone = Times are those of { $zone }.
reminders-how = /reminders cancel NUMBER cancels one. /reminders later NUMBER sets one that has come again, in an hour.
reminder-kind = { $kind ->
    [task] task
   *[reminder] reminder
}
reminder-times = next { $times }, and so on
reminder-not-set = _(I have not set a reminder for “{ $words }”. Say it again if you want it.)_
reminder-works = at work now
reminder-times-until = next { $times }, until { $until }
from-outside = from outside: { $sources }
task-failed = I could not do task { $id } (due { $due }): { $why }. /reminders shows it, and when it comes next.
task-failed-why = { $reason ->
    [refused] the server of the model refused the request
    [model_away] the model could not be reached
    [too_old] the model could not be reached
    [too_slow] it took too long
    [cut_off] I was interrupted several times while working on it
    [stopped] it was stopped
    [not_allowed] access was revoked
    [deleted] the message was deleted
    [forgotten] the answer was deleted
    [restored] a backup was restored meanwhile
    [never_asked] it never began
    [still_running] the run before it had not ended
    [nobody_to_tell] there was no address for the answer
   *[no_answer] there was no answer
}

## Commands

help = Just write to me. There are also:
command-too-long = That is too long for a command, which may have { $most } characters. Nothing was done.
command-too-slow = That took longer than { $limit }, so I stopped. Please ask for less at a time.
command-unknown = I do not know the command /{ $name }. /help lists them all.
command-unknown-near = I do not know the command /{ $name }. Did you mean /{ $near }? /help lists them all.
command-usage = Please write it as: { $form }
command-owner-only = Only an owner may do that.
command-direct-only = I answer that only in our direct chat.
command-failed = That did not work, and I do not know why. The log has the details; nothing was changed.
command-no-room = That could not be done: nothing can be written, because the disk is full or a limit is reached. Free some space (`df -h` shows how much there is) and try again.
command-quarantined = That command failed three times, so I will not try it again; the log has the details.
new-conversation = Done. Your next message begins a new conversation; what mattered in this one is being written down.
stopped = Stopped.
nothing-runs = Nothing is running.

answer-where-asked = Answer a question in the chat where it was asked, with its button or number.
nothing-found = Nothing was found.
resend-nothing = Nothing is set aside.
resend-unknown = No delivery of that number is set aside.
resent = { $count ->
    [one] Trying it again now.
   *[other] Trying { $count } deliveries again now.
}

## The state and the account

status-unanswered = - waiting for an answer: { $count ->
    [0] nothing
    [one] 1 message
   *[other] { $count } messages
}
status-undelivered = - waiting for delivery: { $count ->
    [0] nothing
    [one] 1 message
   *[other] { $count } messages
}
status-set-aside = - set aside, because they could not be delivered: { $numbers } ({ $resend } tries again)
status-works = working
status-trouble = { $why }
status-chat-trouble = { $why }
status-heard = last heard { $heard } ago
status-heard-message = last heard { $heard } ago, last message { $message } ago
status-tools = - tools of { $server }: { $state }
status-tools-connected = connected since { $since }
status-tools-absent = not connected
status-tools-begun-again = { $count ->
    [one] started again once
   *[other] started again { $count } times
}
status-tools-refused = { $count ->
    [one] one of its tools cannot be used (name or size)
   *[other] { $count } of its tools cannot be used (name or size)
}
status-proposals = - proposals that wait for you: { $count }
status-upkeep = - upkeep: last { $at }, { $state ->
    [sound] the journal is sound
   *[damaged] the journal is DAMAGED: run `compline doctor`
}
status-restored = - restored from a backup ({ $at }): { $outbox ->
    [one] 1 message that waited was not sent
   *[other] { $outbox } messages that waited were not sent
} and { $messages ->
    [one] 1 that waited for an answer was closed
   *[other] { $messages } that waited for an answer were closed
} then
status-took-over = - took over from another machine ({ $at }): answers to what was written before may repeat, and say so
status-reflections = - next reflections: { $times }
status-reflection = { $job ->
    [daily] daily
    [weekly] weekly
   *[monthly] monthly
} { $at }
status-heartbeat = - heartbeat of { $person }: { $last }; { $next }
status-heartbeat-ran = last run { $at }
status-heartbeat-new = not run yet
status-heartbeat-next = next { $at }, sooner if anything changes
status-heartbeat-idle = nothing is open in HEARTBEAT.md
status-meaning = - search by meaning: { $what }
vectors = { $model }, { $length }; { $kept } texts have one, { $lacking }
vectors-unasked = not asked yet
vectors-length = { $count } numbers per vector
vectors-complete = none is missing
vectors-lacking = { $count } are missing
vectors-lacking-many = more than { $count } are missing
vectors-away = { $what }. Since { $since } searches match words only: { $why }. It is retried at { $next }
status-talk = - { $person }: conversation { $conversation }, last message { $last }
status-no-talk = - { $person }: no open conversation, last message { $last }
status-silent = - { $person }: nothing said yet
status-model = - model: { $model }
status-model-away = - model: { $model }, no answer since { $since }: { $why }
status-refusal = - refused by its server ({ $at }): { $why }
status-used-up = - { $budget } is used up; I answer again after midnight, or once an owner raises it in the configuration
status-left = - left today: { $money }, and { $tokens } tokens where no price is known
status-read = It has read { $sources }. Until /new I ask before I send, note or remind; /trust shows more.
status-skill-without-names = { $name } (names no host)
status-skills = Loaded skills: { $skills }. Until /new I ask before anything goes to another host.
whoami = You are **{ $name }**, { $role ->
    [owner] owner
   *[member] member
}.
whoami-reached = - reached: { $addresses }
whoami-unreached = - reached: nowhere
whoami-conversation = - conversation: since { $since }
whoami-no-conversation = - conversation: none now; your next message begins one
whoami-memory = - memory: your own notes and conversations, and nobody else's
usage-none = No model has been used yet.
usage-today = Today
usage-days = Last { $days } days
usage-by-day = By day
usage-by-person = By person
usage-by-conversation = Most expensive conversations
usage-cached = { $percent } % of the input came from the cache of a provider.
usage-nothing = nothing yet
usage-nobody = no person
usage-total = total
usage-tokens = { $tokens } tokens
usage-money-and-tokens = { $money } and { $tokens } tokens
usage-spent = { $amount } ({ $calls ->
    [one] 1 call
   *[other] { $calls } calls
})
usage-purpose = { $purpose ->
    [chat] chat
    [summary] summary
    [extraction] extraction
    [transcription] transcription
    [embedding] embedding
    [review] review
    [reflection] reflection
    [heartbeat] heartbeat
    [task] task
   *[other] { $purpose }
}

list-more = More: { $command }
search-ends = Only the best { $depth } are listed. More words, --in, --since or --until find the others.
list-earlier = Earlier: { $command }
list-later = Later: { $command }

## Conversations

conversations-none = There are no conversations of that kind yet.
conversation-unknown = There is no conversation { $id }.
conversation = Conversation { $id }
conversation-untitled = without a title
conversation-task = Task { $number }
conversation-reflection = Reflection on { $period }
conversation-heartbeat = Heartbeat, { $at }
conversation-facts = { $person }, { $messages ->
    [one] 1 message
   *[other] { $messages } messages
}, { $ended }
conversation-facts-own = { $person } wrote { $messages ->
    [one] 1 message
   *[other] { $messages } messages
}, { $ended }
conversation-open = still open
conversation-ended = ended { $at }
summary-list = { $list ->
    [topics] Topics
    [decisions] Decisions
    [preferences] Preferences
   *[pending] Pending
}
message-edited = (changed later to) { $words }
attached = { $kind ->
    [photo] photo
    [voice] voice note
   *[file] file
}
by-itself = { $from }, by itself ({ $cause })
cause = { $kind ->
    [reminder] reminder
    [task] task
    [question] question
    [proposal] proposal
    [heartbeat] heartbeat
    [reflection] reflection
   *[notice] notice
}

## What came from outside, and what a person vouches for

trust-no-conversation = No conversation is open, so nothing from outside is in it. Send a message, and ask again.
trust-nothing = Nothing from outside is in this conversation.
trust-head = In this conversation is text from outside, so I ask before I send something, write a note or set a reminder. `/new` starts without it.
trust-open = not trusted
trust-vouched = you vouch for it
trust-foreign = forwarded or written by others: it stays from outside
trust-no-such-item = You sent nothing of that number in this conversation. `/trust` lists what you sent.
trust-wrong-code = That code belongs to something else. `/trust NUMBER` shows what you sent, with its code.
trust-not-yours = That was forwarded or written by others, so it stays from outside. Tell me in your own words what I should know of it.
trust-not-read-yet = I have not read that file yet. Ask again when I have answered.
trust-cannot-show = I can show you neither text nor picture of that file, so it stays from outside.
trust-too-long = That is too long to be shown here whole, and nobody should vouch for what they have not read.
button-trust = Trust this here
trust-nothing-to-take-back = You allow nothing special in this conversation.
trust-unnamed = a file without a name
trust-picture = the picture above
trust-others = Not from you, and never trusted here: { $sources }.
trust-file = Some lines of { $path } came from outside: `/promote { $path }` shows them and makes them yours.
trust-how = `/trust NUMBER` shows what you sent once more and lets you vouch for it.
trust-tool = Without a question: { $name }, until /new. `/trust off` takes it back.
trust-tool-times = Without a question: { $name }, { $count } more times. `/trust off` takes it back.
trust-destination = Not named by a loaded skill, and allowed until /new: { $name }. `/trust off` takes it back.
trust-shown = You sent this ({ $at }): { $what }.
trust-how-to-vouch = `/trust { $number } { $code }` makes it count as yours in this conversation: I may then set reminders from it without asking, and a note still needs your yes. Before anything leaves I still ask. `/trust off` takes it back.
trust-vouched-now = From now on { $what } counts as yours in this conversation. Before anything leaves I still ask.
trust-taken-back = { $count ->
    [one] It is taken back: I ask again from now on.
   *[other] All { $count } are taken back: I ask again from now on.
}

## The page

web-link = { $link } signs one browser in as { $name }. It works once, for two minutes; pass it to nobody.
web-only-on-the-computer = The page opens only on the computer that runs me: `compline web` makes a link there.

## Sizes, and what a person's memory holds

size-bytes = { $count ->
    [one] 1 byte
   *[other] { $count } bytes
}
gauge = { $size } of { $most } KB ({ $percent } %)
enumeration = { $first } and { $last }
instead-of = instead of “{ $old }”
memory-edit-where = There is no editor here. In a terminal on the computer that I run on, `compline memory edit [NOTE]` opens one, and so does `/memory edit [NOTE]` in `compline chat`. Anything that changes Markdown files will do: I read them again before each answer.
memory-off = Memory is switched off (`[memory] enabled`): I keep nothing, and I do not read what was kept before unless asked. The files stay.
memory-reads-part = Before each answer I read as much as fits: its newest facts and its index.
memory-reads-whole = I read it before each answer.
memory-goes-on = There is more: { $command } shows all of it.
memory-counted = { $count ->
    [one] 1 file
   *[other] { $count } files
}, { $size }
memory-notes = **Notes**: { $counted }
memory-no-notes = **Notes**: none yet. Tell me what to remember, or use /remember.
memory-more-notes = - and { $count } more: { $command }
memory-today = **Today**: { $name }, { $gauge }
memory-nothing-today = **Today**: nothing yet
memory-days = **Other days**: { $counted }, the newest { $newest }; the fullest { $fullest }, { $gauge }
memory-facts = **Noted in conversations**:
memory-waiting = **From outside**, read only when I am asked to: { $counted }. `{ $promote }` shows one and how to make it yours.
memory-total = Total: { $counted }. `{ $show }` shows one, `{ $history }` its earlier versions.
memory-from-outside = These words came from outside ({ $sources }). I read them only when I am asked to.
memory-cut = It is longer than can be shown here; this is its beginning. The file itself has all of it.
memory-no-such-note = There is no such note. /memory lists them.
memory-not-text = it is not UTF-8 text
memory-too-large = it is larger than 1 MB
memory-not-opened = it cannot be opened, or leads out of the folder
memory-index-unread = **MEMORY.md** cannot be read: { $why }. It is not used, and nothing is added to it, until you fix it by hand.
memory-unread-files = **Not read, not searched**, until you fix them by hand:
memory-too-large-to-show = That file is larger than 1 MB, so it is neither read nor shown.
memory-unreadable = That file cannot be read as text.
memory-remembered = I keep that in mind from now on ({ $path }, { $gauge }){ $instead }.
memory-remembered-unread = MEMORY.md says that now, but that file contains text from outside, so I do not read it unless asked. `/promote MEMORY` shows it and how to make it yours.
memory-remembered-as-note = Kept as { $path } ({ $size }), with a line in MEMORY.md{ $instead }.
memory-known = { $path } says that already.
memory-full = Not kept: { $path } would be larger than { $room } KB. Shorten it with an editor (`compline memory edit`), then try again.
memory-overfull = Not kept: { $path } is already larger than the { $room } KB limit. Shorten it with an editor (`compline memory edit`), then try again.
memory-broken = Nothing was changed: { $path } cannot be read as text. It may hold something else, be far too large, or belong to another user. Fix or move it by hand, then try again; `compline doctor` checks all of them.
memory-not-kept = Nothing was changed: { $why }.
memory-yours = { $path } is yours already.
memory-how-to-promote = `{ $command }` makes these words count as yours: I then read them like anything you told me. The code is for exactly this text.
memory-too-long-to-promote = It is too long for a chat, and nobody should accept what they have not read. `{ $command }` shows all of it.
memory-wrong-code = That code does not match the present content, so nothing was changed. `{ $command }` shows the text and its code.
button-promote = Make it mine
versions-head = **{ $path }**, newest first
version = version { $id }
version-author = { $author ->
    [assistant] the assistant
    [person] you, with a command
    [hand] you, by hand
    [found] found after a restore
   *[program] the program
}
version-cause = { $cause ->
    [first] first contents
    [received] received
    [given] given by an external tool
    [remember] a note
    [save] the note of the day
    [section] one section
    [file] the whole file
    [facts] facts from a conversation
    [learned] a lesson
    [promote] made yours
    [import] an import
    [forget] forgotten
    [follow] your edit of another file
    [merge] put together with your edit
    [unlist] lines of notes that are gone
    [page] on the page
    [restore] an earlier version
   *[edit] an edit
}
version-deleted = deleted
version-without-text = its text is no longer kept
version-present = there now
comparison = **{ $path }**, from version { $old } to version { $new }
comparison-same = They are the same.
versions-cut = Only the newest { $count } versions are listed; the texts of older ones are no longer kept.
memory-took-lines = I took this of yours out of { $path }: “{ $lines }”. `{ $restore }` brings it back.
versions-how = `{ $show }` shows one and what it changes, `{ $restore }` puts it back.
memory-restoring-changes = Putting it back changes this:
memory-is-there = That is what is there now.
version-how = `{ $command }` puts it back.
version-restored = Done: { $path } is back to version { $id }.
version-restored-outside = Its words still count as coming from outside.
version-made-way = The old file could not be read as text; it is kept as { $path }.
version-same = Nothing to change: { $path } is already the same as version { $id }.
version-unknown = It has no such version. `{ $command }` lists them.
version-gone = The text of version { $id } is no longer kept, so it cannot be restored.
memory-still-from-outside = Nothing was changed: the text of that version came from outside, which a file that I always read may not contain.

## Where something comes from

why-lost = The journal no longer shows where it came from.
why-from-outside = Text that nobody typed here had a part in it. How it got there:
why-nothing-from-outside = Nothing from outside had a part in it.
why-no-fact = I know no fact with that key.
why-no-answer = I have not answered you yet.
why-vouched = You vouched for something that had a part in it: { $sources }.
why-skill = An accepted skill by someone else had a part in it.
why-fact = “{ $fact }” is in { $path }.
why-note = This is about { $path }.
why-written = It is known since { $at }, from { $origin }.
why-changed = It was changed { $count ->
    [one] once
   *[other] { $count } times
} since, last { $at } by { $origin }.
why-conversation = { $opened } (`{ $command }`)
why-more-conversations = { $count } more
why-conversations = { $count ->
    [one] It comes from the conversation of { $conversations }.
   *[other] It comes from the conversations of { $conversations }.
}
why-messages = { $count ->
    [0] your answer to a question
    [one] your message
   *[other] your { $count } messages
}
why-history = what was said before in the conversation
why-read-conversations = { $count ->
    [one] conversation { $numbers }, summarised or read
   *[other] conversations { $numbers }, summarised or read
}
why-files = the files { $files }
why-tool-times = { $tool } ({ $count } times)
why-answer = For my last answer ({ $at }) I had: { $held }.
why-tools = I used the tools { $tools }.
why-more-sources = { $count ->
    [one] 1 more source had a part in it too.
   *[other] { $count } more sources had a part in it too.
}
why-step = { $after ->
    [answer] That answer
    [message] That message
    [summary] That summary
    [file] That file
    [attachment] That file
    [skill] That skill
    [facts] That list of facts
   *[proposal] It
} { $verb ->
    [given] was given to
    [knew] knew
    [read] had read
   *[from] came from
} { $thing }.
why-thing = { $step ->
    [message] a message ({ $at })
    [summary] the summary of an earlier conversation ({ $at })
    [file] a file of the workspace, as it was written ({ $at })
    [attachment] a file that was sent ({ $at })
    [skill] a skill as it was then ({ $at })
    [facts] the facts that were extracted ({ $at })
   *[answer] an answer ({ $at })
}
why-earlier-answer = an earlier one ({ $at })
why-earlier-answers = earlier ones, back to one ({ $at }), with { $count } more between
why-proposal = proposal { $id } ({ $at })
why-came-by-tool = It came in here: the assistant used { $tool }, and what came back was { $source }.
why-came-by-tool-alone = It came in here: the assistant used { $tool }.
why-came-somehow = It came in here: what was read for that answer held { $source }.
why-came-somehow-alone = It came in here, with what was read for that answer.
why-came-with = It came in here: { $what ->
    [message] the message
   *[other] it
} held { $source }{ $name }.
why-came-with-alone = It came in here, with { $what ->
    [message] the message
   *[other] it
}{ $name }.
why-name = (“{ $name }”)

## What waits, and codes for another address

pending-nothing = Nothing is waiting for you.
pending-question = - **question { $id }** { $question }
pending-keep = Keep { $path }?
code-links-you = This code links another address to you, { $name }.
code-valid = It works once, for { $time }.
code-open = - { $channel }: open { $link }
code-send-in-chat = - { $channel }: send the line below to { $account } ({ $link })
code-send = - { $channel }: send the line below to { $account }
code-send-anywhere = Send the assistant this line:

## What is forgotten, and exported

count-notes = { $count ->
    [one] 1 note
   *[other] { $count } notes
}
count-lines = { $count ->
    [one] 1 line
   *[other] { $count } lines
}
count-earlier-lines = { $count ->
    [one] 1 line of earlier versions
   *[other] { $count } lines of earlier versions
}
count-entries = { $count ->
    [one] 1 entry
   *[other] { $count } entries
}
count-versions = { $count ->
    [one] 1 earlier version
   *[other] { $count } earlier versions
}
count-summaries = { $count ->
    [one] 1 summary
   *[other] { $count } summaries
}
count-summary-places = { $count ->
    [one] 1 place in summaries
   *[other] { $count } places in summaries
}
count-copies = { $count ->
    [one] 1 copy
   *[other] { $count } copies
}
count-planned-copies = { $count ->
    [one] 1 copy in earlier prompts, calls and the index
   *[other] { $count } copies in earlier prompts, calls and the index
}
count-messages = { $count ->
    [one] 1 message
   *[other] { $count } messages
}
count-archives = { $count ->
    [one] 1 export archive
   *[other] { $count } export archives
}
count-deleted-archives = { $count ->
    [one] 1 export archive, as it held a copy of everything
   *[other] { $count } export archives, as they held a copy of everything
}
count-reminders = { $count ->
    [one] 1 reminder
   *[other] { $count } reminders
}
count-proposals = { $count ->
    [one] 1 proposal
   *[other] { $count } proposals
}
count-places = { $count ->
    [one] 1 place
   *[other] { $count } places
}
forget-proved = A search for it finds nothing any more.
forget-proved-but-spared = Apart from what you left out, a search for it finds nothing any more.
forget-nothing-left = Nothing of it is left.
forget-backups = Backups made before still contain it, until you delete them.
forget-replica = { $days ->
    [one] The replica on another machine does for up to a day.
   *[other] The replica on another machine does for up to { $days } days.
}
forget-none-such = There is no note or fact called { $name }, and no line of the memory has these words. { $memory } shows what there is. `{ $forget }` deletes what was only said.
forget-none-said = There is no note or fact called { $name }, and no message or file holds these words on one line.
forget-too-short = There is no note or fact called { $name }, and that is too short to search for.
forget-none-in-group = I keep no note or fact called { $name } for this group. To forget what I keep for you alone, use our direct chat.
forget-left-out = What you left out stays.
forget-left-out-items = Left out, so it stays: { $items }.
forgotten = Forgotten.
forgotten-parts = Forgotten: { $parts }.
forget-in-messages = Still in { $messages } in which it was said: messages stay until you delete them. `{ $command }` deletes those too.
forget-paraphrases = All its words also occur in another sentence, in { $places }: a search finds it, and I cannot tell whether it means the same. `{ $command }`, with words that stand together there, shows how many messages have them, and deletes those.
forget-unread = I could not search { $files }, so I do not know whether it is in there.
forget-only-before = It was in no current file, only in earlier versions, which can no longer be restored.
forget-in-reminders = Still in { $reminders }: `{ $command }` deletes those too; { $list } shows them.
forget-in-proposals = Still in { $proposals } for skills, which the owner keeps or rejects.
forget-in-files = Still in { $files }: what you wrote yourself is yours to change.
forget-in-received-files = Still in { $files }: only you can change or delete a file that you sent or were sent.
forget-in-assistant-files = Still in { $files }, which I wrote and could not change: change or delete it yourself.
forget-elsewhere = Still in { $places } that came meanwhile: `{ $command }` continues.
forget-unreadable = Forgetting { $id } is not finished: the journal is damaged there, and its words cannot be read. Forget it again by its words; `compline doctor` tells an owner more.
button-delete = Delete all of this
plan-changed = What this would delete has changed since it was shown.
plan-no-such-number = The plan has no item of that number. Nothing is deleted.
plan-optional = Stays unless you choose its number:
plan-headline = Forgetting { $name } deletes { $deletes }. Nothing is deleted yet.
plan-deletes-nothing = nothing by itself
plan-more = - and { $count } more like these
plan-note = note{ $title } ({ $path })
plan-line = { $path } line “{ $text }”
plan-earlier-line = line “{ $text }” of { $count ->
    [one] 1 earlier version
   *[other] { $count } earlier versions
} of { $path }
plan-in-versions = in { $count } versions
plan-derived = { $what }, made from it
plan-line-of = a line of { $path }
plan-archive = export archive { $path }, which holds a copy of everything
plan-message = { $whose ->
    [mine] my message
    [yours] your message
   *[somebody] message
} ({ $at }) “{ $text }”
plan-message-in-other-words = { $whose ->
    [mine] my message
    [yours] your message
   *[somebody] message
} ({ $at }), in other words
plan-message-of = { $whose ->
    [mine] my message
   *[somebody] the message
} ({ $at })
plan-summary = what the summary of a conversation ({ $at }) says of it
plan-reflection = what a reflection ({ $at }) says of it
plan-reminder = reminder { $id }, which is cancelled then
plan-reminder-of = reminder { $id }
plan-stays-by-hand = { $files } (you wrote it, so only you change it)
plan-stays-by-assistant = { $files } (I wrote it and cannot change it: change or delete it yourself)
plan-stays-received = { $files } (a file that you sent or were sent, so only you can change it)
plan-stays-unread = { $files } (I cannot search it)
plan-stays-in-messages = { $count ->
    [one] 1 message
   *[other] { $count } messages
} of the group (only the owner deletes messages here)
plan-stays-in-proposals = { $count ->
    [one] 1 place
   *[other] { $count } places
} in proposals for skills (the owner keeps or rejects them)
plan-stays-in-backups = backups made before, until you delete them
plan-stays-in-replica = the replica on another machine, for up to { $days ->
    [one] a day
   *[other] { $days } days
}
plan-stays = Stays: { $places }.
plan-messages-stay = What was said stays: `{ $command }` includes messages and reminders.
plan-carry-out = `{ $command }` deletes all of this for good.
plan-carry-out-part = `{ $command }` deletes only what has those numbers.
export-in-direct-chat = Everything kept about you will arrive in your direct chat as a file.
export-no-address = There is no chat to send a file to. The owner can write the file: compline export NAME FILE
export-too-large = It is larger than { $most } MiB, which is more than a chat takes. The owner can make it on the computer: compline export NAME FILE
export-attached = Here is everything kept about you ({ $kib } KiB). The file is deleted from the workspace after a week.
export-title = Data kept about { $name }
export-made = Made on { $at }.
export-contents = - `conversations/`: every conversation as Markdown
    - `messages.jsonl`: every message, one JSON object a line; those in groups are only your own
    - `summaries.jsonl`: what was written down at the end of conversations
    - `reflections/`: reflections on past days, weeks and months
    - `reminders.jsonl`: reminders and tasks to come
    - `settings.json`: language and time zone
    - `knowledge/`: the memory files as they are, with what you sent under `inbox/`
    - `experience/`: what else the assistant has learned about you
write-refused = { $why ->
    [elsewhere] the path leads out of the folder
    [foreign] it was written for somebody else
    [owners-hand] only the owner changes this file, by hand
    [untrusted] untrusted words do not go into a file that is loaded by itself
   *[not-text] what stands there is no text
}

message-forgotten = (forgotten)
message-gone = (gone: deleted by its sender, or its timer ran out)
message-forgotten-on-request = (gone: forgotten on request)
imported-from = imported from { $program }

## Files

files-all = Your files
files-none = There are no files here.
files-how = `{ $list }` opens a folder, `{ $send }` sends a file.
files-none-such = There is no such file or folder. `{ $list }` lists them.
file-too-large = It is larger than { $most } MB, which is more than a chat takes.
file-no-chat = There is no chat to send a file to.
file-attached = Here is the file ({ $kib } KiB).
file-in-direct-chat = The file will arrive in your direct chat.

## Proposals in a list

proposal-entry = - **{ $id }** { $what }: { $standing }, { $age } old
proposal-waits = **{ $id }** { $what }: { $standing }
proposal-how = `{ $command }` shows one of them and how to decide.
proposal-change = { $how ->
    [folder] use the skill { $skill } from its folder
    [create] add the skill { $skill }
    [delete] delete the skill { $skill }
    [rename] rename the skill { $skill } to { $name }
   *[edit] change the skill { $skill }
}
proposal-outside = text from outside had a part in it ({ $sources })
proposal-no-act = does nothing by itself
proposal-act = { $act ->
    [sends] sends
    [secret] reads a secret
    [deletes] deletes
    [access] changes access
    [overrides] overrides rules
    [obeys] obeys other texts
    [copies] copies itself
    [assumes] takes something else for a yes
    [runs] runs a program
    [quiet] hides something
    [money] spends money
    [always] always
    [standing] again and again
    [writes] writes files
    [reads] reads files
   *[tools] uses tools
}
proposal-advice = reviewer: { $advice ->
    [passed] nothing against it
    [refused] advises against it
    [skipped] left out
    [later] not asked yet
   *[none] no verdict
}
proposal-ended = { $state ->
    [approved] approved
    [rejected] refused
    [conflict] not applied, because the skill was changed meanwhile
   *[expired] void
}

## Report about a reflection

report-head = **Looking back on { $job ->
    [weekly] the week from { $day }
    [monthly] the month from { $day }
   *[daily] { $day }
}: { $title }**
report-done = Done
report-waits = Waits for you
report-left-out = Left out
report-all = All of it
report-remembers = I remember from now on: { $words }
report-kept-apart = Text from outside had a part in this, so I remember it only if you want: { $words }
report-left = { $count } { $why ->
    [over_limit] more than are taken at once or in one day
    [refused] refused by a check
    [malformed] not in the right form
    [off] only noted, because `auto_action` is off
   *[void] not applied, because the skill was changed meanwhile
}
report-for-you = For you to do: { $title }
report-forget = Forget “{ $title }”
report-show = Show { $what }
report-history = History of { $name }
report-brief-offer = If you like, I tell you each morning what the day holds and what is open. Just say: “Brief me every day at 7.”

## What is open

open-nothing = Nothing is open. What we talk about and leave unfinished comes onto this list by itself; /open add TEXT puts something on it.
open-when = I do not understand that time. Try “tomorrow”, “monday 09:00” or “2026-12-01”.
open-pasted = These words stand in something that came from outside, so I do not put them on your list by myself.
open-heading = Still open
open-later-heading = Later
open-closed-heading = Closed lately
open-reminders-heading = Reminders and tasks
open-heartbeat-heading = HEARTBEAT.md
open-how = /open done NUMBER closes one, /open drop NUMBER too if it is no longer wanted, /open later NUMBER puts it off, /open undo NUMBER opens it again.
open-item = - { $id } { $words } (since { $since })
open-later-item = - { $id } { $words } (from { $from })
open-closed-item = - { $id } { $words } ({ $how ->
    [dropped] dropped
   *[done] done
} { $at })
open-was-closed = Closed: { $words } (/open undo { $id } opens it again.)
open-reopened = Open again: { $words }
open-put-off = Put off: { $words } (from { $from })
open-added = On your list: { $id } { $words }
open-known = That is on your list already: { $words }
open-unknown = There is no open item { $id }. /open shows the numbers.
