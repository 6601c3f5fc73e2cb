"""The commands of `kokoro-agents`: `main.py` joins them, one module per command.

Modules named after a command hold its arguments and what it prints. What they share:

* `failure.py`, `arguments.py`, `progress.py`: how a command fails, reads values, shows a wait.
* `stdin.py`, `tokens.py`, `wav.py`: text as it comes in, audio as it goes out.
* `speaking.py`: a session that speaks into a file, for `say` and `speak`; `watched.py` says when
  each sentence is sent.
* `local_server.py`, `child_server.py`: the server that a command starts for itself, from both ends.
* `scripted_llm.py`, `measure.py`, `timeline.py`, `picture.py`, `machine.py`: the demo's parts.

Importing any of these costs little: engines, sessions and drawing load when a command needs them.
"""
