//! Hides what models write into an answer that is not for a person.
//!
//! Local models, and servers without a parser for them, put three things among the words: thinking,
//! such as that between `<think>` and `</think>`, in front of the answer or of a further part of
//! it; calls of tools in the notation of the model; and control marks of the chat template. Some
//! servers send only the end of thinking, because their chat template wrote the begin, and an
//! answer that broke off has no end. Within code the marks are text.

use std::borrow::Cow;
use std::sync::Mutex;

use self::marks::{Extent, MARK_STARTS};
use self::reader::Reader;
use super::StreamSink;
use crate::time::task::lock;

mod marks;
mod reader;
mod written_call;

pub use self::written_call::written_call;

/// Returns an answer without thinking, written calls and control marks.
pub fn without_thinking(answer: &str) -> Cow<'_, str> {
    if !answer.contains(MARK_STARTS) {
        return Cow::Borrowed(answer);
    }
    let reader = Reader::of(answer);
    if reader.has_found() { Cow::Owned(reader.shown().to_owned()) } else { Cow::Borrowed(answer) }
}

/// Passes a growing answer on without thinking, written calls and control marks.
pub struct ThinkingFilter<'a> {
    sink: &'a dyn StreamSink,
    answer: Mutex<GrowingAnswer>,
}

#[derive(Default)]
struct GrowingAnswer {
    reader: Reader,
    /// The end of what was written, if its meaning depends on what follows.
    unread: String,
    /// Length of what the sink has.
    sent: usize,
}

impl<'a> ThinkingFilter<'a> {
    /// Creates a filter in front of `sink`.
    pub fn new(sink: &'a dyn StreamSink) -> Self {
        Self { sink, answer: Mutex::default() }
    }
}

impl StreamSink for ThinkingFilter<'_> {
    fn append(&self, delta: &str) {
        let mut answer = lock(&self.answer);
        let GrowingAnswer { reader, unread, sent } = &mut *answer;
        unread.push_str(delta);
        let rest = reader.read(unread, Extent::Growing).len();
        unread.drain(..unread.len() - rest);
        if reader.take_rewritten() && *sent > 0 {
            self.sink.restart();
            *sent = 0;
        }
        let shown = reader.shown();
        if let Some(new) = shown.get(*sent..).filter(|new| !new.is_empty() && !shown.trim_start().is_empty()) {
            self.sink.append(new);
            *sent = shown.len();
        }
    }

    fn restart(&self) {
        *lock(&self.answer) = GrowingAnswer::default();
        self.sink.restart();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn thinking_is_left_out_wherever_it_stands() {
        for (answer, shown) in [
            ("Good morning", "Good morning"),
            ("<think>\nShe greets me.\n</think>\n\nGood morning", "Good morning"),
            ("\n<think>She greets me.</think>Good morning", "Good morning"),
            ("<thinking>a</thinking><think>b</think>\nGood morning", "Good morning"),
            ("She greets me.\n\nShe is up early.\n</think>\n\nGood morning", "Good morning"),
            ("She greets me.</think>\nGood morning", "Good morning"),
            ("Good morning\n<think>\nWhat next?\n</think>\nTea?", "Good morning\n\nTea?"),
            ("<think>\nShe greets", ""),
            ("<think></think>Good morning", "Good morning"),
            ("<think>1 < 2, </thin</think>Good morning", "Good morning"),
            ("<think>```\n</think>Good morning", "Good morning"),
            ("<think>a</think>Good morning\n</think>\nTea?", "Good morning\n\nTea?"),
            ("<THINK>a</Think>Good morning", "Good morning"),
            ("<think id=\"1\" lang='en'>a</think >Good morning", "Good morning"),
            ("<think>a</thought>Good morning", "Good morning"),
            ("<think>a</think>\n<answer>\nGood morning\n</answer>", "Good morning\n"),
            ("a\n</think>\n\n<response>Good morning</response>\n", "Good morning\n"),
        ] {
            assert_eq!(without_thinking(answer), shown, "{answer:?}");
        }
    }

    #[test]
    fn thinking_of_every_family_is_left_out() {
        for (begin, end) in [
            ("<think>", "</think>"),
            ("<thinking>", "</thinking>"),
            ("<antThinking>", "</antThinking>"),
            ("<thought>", "</thought>"),
            ("<thoughts>", "</thoughts>"),
            ("<reasoning>", "</reasoning>"),
            ("<seed:think>", "</seed:think>"),
            ("[THINK]", "[/THINK]"),
            ("◁think▷", "◁/think▷"),
            ("<|begin_of_thought|>", "<|end_of_thought|>"),
            ("<|START_THINKING|>", "<|END_THINKING|>"),
            ("<|inner_prefix|>", "<|inner_suffix|>"),
            ("<|channel>thought", "<channel|>"),
            ("<unused94>thought", "<unused95>"),
            ("<|im_start|>think", "<|im_start|>answer"),
            ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
        ] {
            for (answer, shown) in [
                (format!("{begin}\nShe greets me. 1 < 2 [a]\n{end}\n\nGood morning"), "Good morning"),
                (format!("\n {begin}She greets me.{end}Good morning"), "Good morning"),
                (format!("She greets me.\n{end}\nGood morning"), "Good morning"),
                (format!("She greets me.{end}\nGood morning"), "Good morning"),
                (format!("{begin}\nShe greets"), ""),
            ] {
                assert_eq!(without_thinking(&answer), shown, "{answer:?}");
                assert_eq!(grow(&answer, 1).0, shown, "{answer:?}");
            }
            for text in [format!("```\n{begin}\na\n{end}\n```\nb"), format!("`{begin}`\nand `a {end}`")] {
                assert_eq!(without_thinking(&text), text);
            }
        }
    }

    #[test]
    fn the_channels_of_harmony_are_told_apart() {
        for (answer, shown) in [
            ("<|channel|>final<|message|>Hello<|return|>", "Hello"),
            (
                "<|channel|>analysis<|message|>Hm <|x|>.<|end|><|start|>assistant<|channel|>final<|message|>Hello",
                "Hello",
            ),
            ("<|channel|>analysis<|message|>Hm.<|channel|>final<|message|>Hello<|return|>\n", "Hello\n"),
            ("Hm.<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>{}", "{}"),
            (
                "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>final<|message|>Hello",
                "Hello",
            ),
            ("<|start|>assistant<|channel|>analysis<|message|>Hm.", ""),
            (
                "<|channel|>final<|message|>Hello<|end|><|start|>assistant<|channel|>commentary to=functions.x<|message|>{}<|call|>",
                "Hello",
            ),
        ] {
            assert_eq!(without_thinking(answer), shown, "{answer:?}");
        }
    }

    #[test]
    fn control_marks_at_either_end_of_a_line_are_dropped() {
        for (answer, shown) in [
            ("Hello there!<|im_end|>", "Hello there!"),
            ("Hello there! <|im_end|>\n<|endoftext|>\n", "Hello there! \n\n"),
            ("Hello</s>", "Hello"),
            ("<s> Hello </s>", "Hello "),
            ("<s>[INST] Hello [/INST]", "Hello "),
            ("Hello<｜end▁of▁sentence｜>", "Hello"),
            ("Hello<｜end of sentence｜>", "Hello"),
            ("Hello<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nTea?", "Hello\n\nTea?"),
            ("<|im_start|>assistant\nHello<|im_end|>", "Hello"),
            ("<start_of_turn>model\nHello<end_of_turn>\n<eos>", "Hello\n"),
            ("<|im_start|>models are many", "models are many"),
            (
                "<|begin_of_thought|>a<|end_of_thought|>\n\n<|begin_of_solution|>Hello\nyou<|end_of_solution|>",
                "Hello\nyou",
            ),
            ("Hello[|endofturn|]", "Hello"),
            ("```\na <|x|>\n```<|im_end|>", "```\na <|x|>\n```"),
            ("```\na\n``` </s> <|im_end|>\n<|x|>b", "```\na\n``` \nb"),
            ("`code` <|im_end|>", "`code` "),
            ("It is ` alone <|im_end|>", "It is ` alone "),
        ] {
            assert_eq!(without_thinking(answer), shown, "{answer:?}");
        }
    }

    #[test]
    fn written_calls_are_left_out() {
        for (answer, shown) in [
            ("I look.\n<tool_call>\n{\"name\": \"x\"}\n</tool_call>\nDone.", "I look.\n\nDone."),
            ("I look.<tool_call>{\"name\": \"x\"}</tool_call>Done.", "I look.\nDone."),
            ("I look. <tool_call>\n{\"name\": \"x\"}", "I look. "),
            ("I look.<tool_call>x\n<arg_key>a</arg_key></tool_call>", "I look."),
            ("I look.<function=x>{}</function> Done.", "I look.\n Done."),
            ("I look.\n\n[TOOL_CALLS]x{\"a\": 1}\nmore", "I look.\n\n"),
            ("I look.[TOOL_CALLS] [{\"name\": \"x\"}]", "I look."),
            (
                "I look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>x\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>Done.",
                "I look.\nDone.",
            ),
            ("<|tool_calls_section_begin|><|tool_call_begin|>x:0<|tool_call_end|><|tool_calls_section_end|>", ""),
            ("I look.\n<minimax:tool_call>\n<invoke name=\"x\">\n</invoke>\n</minimax:tool_call>", "I look.\n"),
            ("Hm.</think> <tool_call>{}</tool_call>\nDone.", "Done."),
        ] {
            assert_eq!(without_thinking(answer), shown, "{answer:?}");
        }
    }

    #[test]
    fn marks_that_are_text_stay() {
        for answer in [
            "The mark `</think>` ends it, and <think> begins it.",
            "```xml\n<think>\n</think>\n```\nThat is all.",
            "1 < 2 and <b>bold</b>",
            "<thinker> is no mark",
            "<think about it>",
            "<think\nid=\"1\">",
            "Write </think> at its end.",
            "a <|b|> c in the middle stays",
            "a |> b <| c, (<|>) and <||>",
            "The token <|im_end|> ends a turn, </s> another, [INST] begins one.",
            "Its mark `<|im_end|>`",
            "````md\n```\n<tool_call>\n```\n<think>\n````",
            "```\n```<|im_end|> a\n<|im_end|>\n```",
            "~~~\n<|im_end|>\n```\n<|im_end|>\n~~~",
            "```<tool_call>{}</tool_call>``` is a call, and ``<tool_call>`{}`` too",
            "<note>\n  <to>Ada</to>\n  <body>I [think](https://a.example) so</body>\n</note>",
            "<answer>42</answer>\n<reflection>Hm.</reflection>",
            "Models write <tool_call> in front of a call, and some [TOOL_CALLS] as Mistral does.",
            "[TOOL_CALLS] is a mark of Mistral.",
            "{\"name\": \"remind\", \"arguments\": {}}",
            "Call it so: {\"name\": \"remind\", \"arguments\": {}}",
            "- [ ] milk\n- [x] tea [1]\n\n  indented  \nlines\n",
            "",
            " \n ",
        ] {
            assert_eq!(without_thinking(answer), answer);
            assert_eq!(grow(&format!("{answer}\n."), 1).0, format!("{answer}\n."));
        }
    }

    /// `COMPLINE_LENGTH=1048576` reads longer ones.
    #[test]
    fn long_answers_are_read_in_linear_time() {
        let length = std::env::var("COMPLINE_LENGTH").map_or(1 << 14, |length| length.parse().unwrap());
        for piece in [
            "<",
            "[",
            "◁",
            "<<",
            "</",
            "<think",
            "<think ",
            "<think a=",
            "</think>",
            "</think> ",
            "<think>",
            "<|",
            "<|x|>",
            "<|x",
            "`",
            "` ``",
            "a``",
            "`\n",
            "```",
            "```\n",
            "~",
            "[TOOL_CALLS]",
            "[TOOL_CALLS]x",
            "<tool_call>",
            "a<tool_call> ",
            "a<tool_call>{}</tool_call>",
            "<function=",
            "<|channel|>analysis",
            "<|im_start|>assistant",
            "<|channel|>final",
            "<answer>",
            " ",
            "\n",
            "{\"name\":",
            "[{",
            "`[a",
            "x </s>",
        ] {
            let answer = piece.repeat(length / piece.len());
            let shown = without_thinking(&answer);
            assert_eq!(without_thinking(&shown), shown, "{piece:?}");
            let _ = written_call(&answer, ["x"]);
            let _ = written_call(&format!("<tool_call>{answer}"), ["x"]);
            let preview = Preview::default();
            ThinkingFilter::new(&preview).append(&format!("` {answer}"));
        }
    }

    #[derive(Default)]
    struct Preview(Mutex<(String, Vec<String>)>);

    impl StreamSink for Preview {
        fn append(&self, delta: &str) {
            let mut preview = lock(&self.0);
            preview.0.push_str(delta);
            let seen = preview.0.clone();
            preview.1.push(seen);
        }

        fn restart(&self) {
            lock(&self.0).0.clear();
        }
    }

    fn grow(answer: &str, size: usize) -> (String, Vec<String>) {
        let preview = Preview::default();
        let filter = ThinkingFilter::new(&preview);
        let letters: Vec<char> = answer.chars().collect();
        for delta in letters.chunks(size) {
            filter.append(&delta.iter().collect::<String>());
        }
        preview.0.into_inner().unwrap()
    }

    #[test]
    fn a_growing_answer_never_shows_what_is_left_out() {
        for (answer, shown) in [
            ("<think>\nSecret thoughts, 1 < 2.\n</think>\n\nGood morning, 1 < 2.", "Good morning, 1 < 2."),
            ("[THINK]Secret [1][/THINK]Good [morning](a).", "Good [morning](a)."),
            ("◁think▷Secret◁/think▷Good `<think>` ` <|im_end|>\n", "Good `<think>` ` \n"),
            ("I look.<tool_call>{\"name\": 1}</tool_call>\nDone.<|im_end|>\n</s>", "I look.\nDone.\n"),
            (
                "<|channel|>analysis<|message|>Secret<|end|><|start|>assistant<|channel|>final<|message|>Hello <|x|> you<|return|>",
                "Hello <|x|> you",
            ),
        ] {
            for size in 1..=answer.len() {
                let (preview, seen) = grow(answer, size);
                assert_eq!(preview, shown, "{size}");
                assert!(seen.iter().all(|seen| shown.starts_with(seen)), "{size}: {seen:?}");
            }
        }
    }

    #[test]
    fn words_are_shown_at_once() {
        let (_, seen) = grow("I `see", 1);
        assert_eq!(seen, ["I", "I ", "I `s", "I `se", "I `see"]);
        let (_, seen) = grow("```\na b\n```", 1);
        assert_eq!(seen, ["```\n", "```\na", "```\na ", "```\na b", "```\na b\n", "```\na b\n```"]);
    }

    #[test]
    fn a_filter_that_restarts_forgets_the_answer() {
        let preview = Preview::default();
        let filter = ThinkingFilter::new(&preview);
        filter.append("<think>a");
        filter.restart();
        filter.append("Good");
        assert_eq!(lock(&preview.0).0, "Good");
    }

    /// Answers of all marks, parts of marks, code, and what a decision may depend on.
    fn answers() -> impl Strategy<Value = String> {
        let mark = prop::sample::select(marks::all());
        let part = (mark.clone(), 0_usize..30).prop_map(|(mark, length)| mark.chars().take(length).collect());
        let others = [
            "\n",
            "\n",
            "\n",
            " ",
            " ",
            "```\n",
            "```",
            "``",
            "`",
            "~~~\n",
            "<",
            "{",
            "[{",
            "x",
            "assistant",
            "json",
            ">",
            "<|x|>",
            "<｜y｜>",
            " to=x",
            " a=\"1\">",
            "<|message|>",
            "\r\n",
        ];
        let other = prop::sample::select(others.to_vec()).prop_map(str::to_owned);
        let piece = prop_oneof![2 => mark, 1 => part, 1 => "[a-z ]{0,5}", 4 => other];
        prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn the_preview_ends_as_the_answer(answer in answers(), size in 1_usize..9) {
            let answer = format!("{answer}\n.");
            prop_assert_eq!(grow(&answer, size).0, without_thinking(&answer));
        }

        #[test]
        fn the_preview_only_grows_unless_all_was_thinking(answer in answers()) {
            let answer = format!("Hello\n{answer}\n.");
            let shown = without_thinking(&answer);
            let (_, seen) = grow(&answer, 1);
            prop_assert!(!shown.starts_with("Hello") || seen.iter().all(|seen| shown.starts_with(seen)), "{:?}", seen);
        }

        #[test]
        fn a_second_reading_leaves_nothing_out(answer in answers()) {
            let shown = without_thinking(&answer);
            prop_assert_eq!(without_thinking(&shown), shown.as_ref());
        }

        #[test]
        fn any_text_is_read(answer in "(?s).{0,200}") {
            let shown = without_thinking(&answer);
            prop_assert_eq!(without_thinking(&shown), shown.as_ref());
        }
    }
}
