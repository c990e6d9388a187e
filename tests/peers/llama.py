"""Makes a tiny model of random numbers and serves it with llama.cpp, as `ready ADDRESS` on the first line.

Its words are the single bytes, so what it says is babble and mostly no UTF-8 at all. It ends with its standard input, so
that it cannot outlive the test that started it.

    llama.py [MANNER…] [PORT]

endless: it never comes to an end by itself; small: its window has 4,096 tokens; tools: its template knows tools;
plain: it only recognises templates, and so takes no tools.
"""

import os
import sys
import tempfile

import gguf
import numpy
import xllamacpp

WIDTH, INNER, HEADS, LAYERS = 64, 128, 4, 2
# One byte is one token, so an ordinary prompt has thousands.
CONTEXT, SLOTS = 32768, 2
SPECIAL = [
    (b"<unk>", gguf.TokenType.UNKNOWN),
    (b"<s>", gguf.TokenType.CONTROL),
    (b"</s>", gguf.TokenType.CONTROL),
]
SMALL = 4096
TEMPLATE = "{% for message in messages %}{{ message['content'] }}\n{% endfor %}"

# The form of Hermes, from which llama.cpp derives its grammar of calls.
TOOLS = """{% for tool in tools %}{{ tool | tojson }}
{% endfor %}{% for message in messages %}<|im_start|>{{ message['role'] }}
{{ message['content'] }}{% for call in message.tool_calls %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


def write_model(path, template):
    """A llama with random weights and bytes for a vocabulary."""
    tokens = SPECIAL + [(b"<0x%02X>" % byte, gguf.TokenType.BYTE) for byte in range(256)]
    model = gguf.GGUFWriter(path, "llama")
    model.add_context_length(CONTEXT)
    model.add_embedding_length(WIDTH)
    model.add_feed_forward_length(INNER)
    model.add_block_count(LAYERS)
    model.add_head_count(HEADS)
    model.add_layer_norm_rms_eps(1e-5)
    model.add_rope_dimension_count(WIDTH // HEADS)
    model.add_vocab_size(len(tokens))
    model.add_tokenizer_model("llama")
    model.add_token_list([name for name, _ in tokens])
    model.add_token_scores([0.0] * len(tokens))
    model.add_token_types([kind for _, kind in tokens])
    model.add_unk_token_id(0)
    model.add_bos_token_id(1)
    model.add_eos_token_id(2)
    model.add_chat_template(template)
    add_weights(model, len(tokens))
    model.write_header_to_file()
    model.write_kv_data_to_file()
    model.write_tensors_to_file()
    model.close()


def add_weights(model, words):
    random = numpy.random.default_rng(7)
    shapes = {
        "attn_q": (WIDTH, WIDTH),
        "attn_k": (WIDTH, WIDTH),
        "attn_v": (WIDTH, WIDTH),
        "attn_output": (WIDTH, WIDTH),
        "ffn_gate": (INNER, WIDTH),
        "ffn_up": (INNER, WIDTH),
        "ffn_down": (WIDTH, INNER),
    }

    def add(name, shape):
        model.add_tensor(name + ".weight", random.normal(0, 0.5, shape).astype(numpy.float32))

    def add_norm(name):
        model.add_tensor(name + ".weight", numpy.ones(WIDTH, numpy.float32))

    add("token_embd", (words, WIDTH))
    add_norm("output_norm")
    add("output", (words, WIDTH))
    for layer in range(LAYERS):
        for name in ("attn_norm", "ffn_norm"):
            add_norm(f"blk.{layer}.{name}")
        for name, shape in shapes.items():
            add(f"blk.{layer}.{name}", shape)


def serve(path, manner):
    context = SMALL if "small" in manner else CONTEXT
    settings = xllamacpp.CommonParams()
    settings.model.path = path
    settings.hostnames = ["127.0.0.1"]
    settings.port = next((int(port) for port in manner if port.isdigit()), 0)
    settings.n_ctx = context * SLOTS
    settings.n_parallel = SLOTS
    settings.cpuparams.n_threads = 1
    settings.cpuparams_batch.n_threads = 1
    settings.sampling.seed = 7
    settings.sampling.ignore_eos = "endless" in manner
    settings.use_jinja = "plain" not in manner
    return xllamacpp.Server(settings)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "babble.gguf")
        manner = sys.argv[1:]
        write_model(path, TOOLS if {"tools", "plain"} & set(manner) else TEMPLATE)
        server = serve(path, manner)
        print("ready", server.listening_address, flush=True)
        sys.stdin.read()
        # llama.cpp ends its threads in no hurry, and nothing is left to save.
        sys.stdout.flush()
    os._exit(0)


main()
