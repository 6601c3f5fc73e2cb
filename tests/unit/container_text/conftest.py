import importlib.util

import pytest

# The container's G2P needs Python < 3.13; where only the client is installed there is nothing here
# to test.
if importlib.util.find_spec("misaki") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    from kokoro_container.text import Phonemes, Phonemizer

    @pytest.fixture(scope="session")
    def phonemizer() -> Phonemizer:
        return Phonemizer()

    @pytest.fixture(scope="session")
    def check_word_map():
        """Everything a caller relies on about the words of a result."""

        def check(text: str, result: Phonemes) -> None:
            char_end = phoneme_end = 0
            for word in result.words:
                assert word.text == text[word.char_start : word.char_end]
                assert char_end <= word.char_start < word.char_end <= len(text)
                assert phoneme_end <= word.phoneme_start < word.phoneme_end
                char_end, phoneme_end = word.char_end, word.phoneme_end
            assert phoneme_end <= len(result.phonemes)
            # between words there is nothing but a space, so no sound is without its word
            covered = [False] * len(result.phonemes)
            for word in result.words:
                span = range(word.phoneme_start, word.phoneme_end)
                covered[span.start : span.stop] = [True] * len(span)
            rest = {c for c, seen in zip(result.phonemes, covered, strict=True) if not seen}
            assert rest <= {" "}

        return check
