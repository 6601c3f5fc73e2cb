import pytest

from kokoro_sagemaker_agents.cli.timeline import Arrival, Mode, Run, Sentence, play, timeline


def run_of(mode: Mode, audio: list[Arrival], reply: str = "long") -> Run:
    run = Run(reply, mode, tokens=[0.5, 1.0, 5.0], audio=audio, model_s=2.0)
    run.sentences = [Sentence("Hello.", 0.5, audio[0].at_s, 0.0, run.audio_s)]
    return run


def test_audio_that_comes_in_time_plays_without_a_gap() -> None:
    run = run_of("streaming", [Arrival(1.0, 2.0), Arrival(1.5, 2.0), Arrival(4.9, 1.0)])

    assert [(part.start_s, part.end_s) for part in run.playback()] == [(1.0, 6.0)]
    assert run.gaps() == []


def test_a_player_that_runs_dry_pauses_until_audio_comes() -> None:
    run = run_of("streaming", [Arrival(1.0, 2.0), Arrival(4.0, 1.0), Arrival(4.2, 1.0)])

    assert run.gaps() == [(3.0, 4.0)]
    assert [(p.start_s, p.end_s, p.audio_start_s) for p in run.playback()] == [
        (1.0, 3.0, 0.0),
        (4.0, 6.0, 2.0),
    ]


def test_what_a_sound_cards_buffer_hides_is_no_gap_but_many_of_it_are() -> None:
    late_by_8_ms = [Arrival(number * 0.108, 0.1) for number in range(4)]

    assert len(play(late_by_8_ms[:2])) == 1
    assert len(play(late_by_8_ms)) == 2


def test_the_summary_counts_gaps_and_says_whether_the_model_still_wrote() -> None:
    row = run_of("streaming", [Arrival(1.0, 2.0), Arrival(5.0, 2.0)]).summary()

    assert row["while_llm_writes"] is True
    assert (row["gaps"], row["gaps_s"]) == (1, 2.0)
    assert row["rtf"] == 0.5


def test_timeline_json_has_the_long_replys_figures_at_the_top() -> None:
    runs = [
        run_of("streaming", [Arrival(0.3, 1.0)], "short"),
        run_of("waiting", [Arrival(0.9, 1.0)], "short"),
        run_of("streaming", [Arrival(1.0, 4.0)]),
        run_of("waiting", [Arrival(6.0, 4.0)]),
    ]

    figures = timeline(runs, "long", {"machine": {"cores": 2}})

    assert figures["llm_done_s"] == 5.0
    assert figures["streaming"]["first_audio_s"] == 1.0
    assert figures["waiting"]["first_audio_s"] == 6.0
    assert figures["waiting_to_streaming_ratio"] == pytest.approx(6.0)
    assert figures["machine"] == {"cores": 2}
    assert [(r["reply"], r["mode"], r["first_audio_s"]) for r in figures["runs"]] == [
        ("short", "streaming", 0.3),
        ("short", "waiting", 0.9),
        ("long", "streaming", 1.0),
        ("long", "waiting", 6.0),
    ]
    assert figures["runs"][2]["tokens"] == [0.5, 1.0, 5.0]
    assert figures["runs"][2]["sentences"][0]["sent_s"] == 0.5
    assert figures["runs"][2]["audio"] == [{"at_s": 1.0, "audio_s": 4.0}]
