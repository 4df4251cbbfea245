"""What make refusals takes for a test that names a refusal."""

import pytest
from refusals import names, spoken


@pytest.mark.parametrize(
    ("text", "sentence", "named"),
    [
        ("chain has 0 bodies", "gallery: chain has 0 bodies; ask for 1", True),
        (r"has \d bodies", "gallery: chain has 0 bodies; ask for 1", True),
        ("has 1 bodies", "gallery: chain has 0 bodies; ask for 1", False),
        ("two words|b", "gallery: chain has 0 bodies; ask for 1", False),  # one letter is found
        ("of (these", "use one of (these)", True),
    ],
)
def test_what_names_a_refusal(text, sentence, named):
    assert names(text, sentence) == named
    assert spoken("zero or") and not spoken("square_root_abm") and not spoken("j1 3")
