"""The commands of `kokoro-agents`: `main.py` joins them, one module per command.

Modules named after a command hold its arguments and what it prints. What they share:
`failure.py` (how a command fails), `stdin.py` and `tokens.py` (text as it comes in), `wav.py`
(audio as it goes out), `connection.py` (a session, with or without a server of our own). The demo's
parts are `scripted_llm.py`, `measure.py`, `timeline.py` and `picture.py`.

Importing any of these costs little: engines, sessions and drawing load when a command needs them.
"""
