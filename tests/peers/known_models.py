"""Writes config/known-models.csv from the table of models that LiteLLM ships (PyPI, MIT licence).

    pip download --no-deps -d /tmp/litellm litellm==VERSION
    python3 tests/peers/known_models.py /tmp/litellm/*.whl DATE
"""

import json
import re
import sys
import zipfile

PROVIDERS = ("anthropic", "gemini", "groq", "mistral", "openai")
# Not for conversation with tools.
OTHER_USES = re.compile(r"^ft:|audio|realtime|search|codex|tts|image|robotics|research|computer|guard|code|vibe|stral-small-2507|lea?nstral|voxtral|gemma|custom|cyber")


def micros(price):
    """Price per million tokens in micro-units."""
    return "" if price is None else round(price * 1e12)


def rows(models, day):
    for name, model in models.items():
        provider, price = model.get("litellm_provider"), model.get("input_cost_per_token")
        name = name.removeprefix(f"{provider}/")
        usable = model.get("mode") == "chat" and model.get("supports_function_calling") and price
        if provider in PROVIDERS and usable and not OTHER_USES.search(name) and model.get("deprecation_date", "9") > day:
            yield (provider, name), (
                model.get("max_input_tokens") or model.get("max_tokens"),
                "yes" if model.get("supports_vision") else "no",
                micros(price),
                micros(model.get("cache_read_input_token_cost")),
                micros(model.get("output_cost_per_token")),
            )


def main(wheel, day):
    with zipfile.ZipFile(wheel) as archive:
        table = next(name for name in archive.namelist() if "model_prices_and_context_window" in name)
        known = dict(rows(json.loads(archive.read(table)), day))
    # A name with a date after it is the same model.
    dated = {key for key in known if any(
        key[0] == other[0] and key[1].startswith(f"{other[1]}-") and known[key] == known[other] for other in known
    )}
    version = re.search(r"litellm-([0-9.]+[0-9])", wheel).group(1)
    with open("config/known-models.csv", "w", encoding="utf-8") as out:
        out.write("# Context window in tokens, pictures, and US dollars x 10^-6 per million tokens: input, cached input, output.\n")
        out.write(f"# Source: the table in LiteLLM {version} on PyPI, read on {day} by tests/peers/known_models.py. Prices for\n")
        out.write("# long prompts, where a provider has them, are not in it.\n")
        for key in sorted(known.keys() - dated):
            out.write(",".join(map(str, key + known[key])) + "\n")


main(*sys.argv[1:])
