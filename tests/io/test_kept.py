"""Answers that are kept on disk."""

import pytest

from xfact.errors import UserError
from xfact.io.kept import KeptAnswers


def test_an_answer_is_kept_for_the_next_process(tmp_path):
    path = tmp_path / "deep" / "answers.sqlite"
    kept = KeptAnswers(path)
    kept.put("a", {"text": "größer", "list": [1, None]})
    kept.put("a", [2])
    kept.put("b", False)
    kept.close()
    again = KeptAnswers(path)
    assert (again.get("a"), again.get("b"), again.get("c")) == ([2], False, None)


def test_a_place_for_no_answers_is_named(tmp_path):
    (tmp_path / "file").write_text("not a database, but long enough to be looked at as one" * 9)
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UserError, match="no answers can be kept there"):
            KeptAnswers(path)
