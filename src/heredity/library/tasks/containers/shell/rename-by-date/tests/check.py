"""Every picture has its new name and its old content; nothing else has changed."""

from pathlib import Path

expected = {
    "2023-11-30_01.jpg": "picture 3 of 20231130\n",
    "2024-01-01_01.jpg": "picture 6 of 20240101\n",
    "2024-02-12_01.jpg": "picture 1 of 20240212\n",
    "2024-02-12_02.jpg": "picture 4 of 20240212\n",
    "2024-03-05_01.jpg": "picture 0 of 20240305\n",
    "2024-03-05_02.jpg": "picture 2 of 20240305\n",
    "2024-03-05_03.jpg": "picture 5 of 20240305\n",
    "notes.txt": "not a picture\n",
}
found = {path.name: path.read_text() for path in Path("/app/photos").iterdir()}
assert found == expected, sorted(found)
