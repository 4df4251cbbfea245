"""Files of robots that tests write."""

import pytest


@pytest.fixture
def written(tmp_path):
    """Where a text, MJCF or URDF, stands as a file."""

    def write(text, name="robot.xml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write
