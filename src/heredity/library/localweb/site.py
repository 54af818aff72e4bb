"""The web site of Varnholm: pages that any HTML reader can read, and some that need a browser.

Scripts make the museum's catalogue, the ferry's timetable and the figures of companies. A form whose token a script
sets returns the rain of a month.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from html import escape

from heredity.library.localweb.archive import documents
from heredity.library.localweb.town import MONTHS, RAIN_YEARS, Town

_STYLE = "body{font-family:sans-serif;max-width:50em;margin:auto}td,th{text-align:left;padding:.2em .8em}"
_MENU = (
    ("People", "/people/index.html"),
    ("Bridges", "/bridges/index.html"),
    ("Ships", "/ships/index.html"),
    ("Companies", "/companies/index.html"),
    ("Districts", "/districts/index.html"),
    ("Museum", "/museum.html"),
    ("Weather", "/weather.html"),
    ("Ferry", "/ferry.html"),
    ("News", "/news/index.html"),
    ("Archive", "/archive/index.html"),
    ("Search", "/search.html"),
)


def slug(name: str) -> str:
    """Return a name in the form used in addresses."""
    return name.lower().replace("ø", "o").replace(" ", "-")


def pages(town: Town) -> dict[str, bytes]:
    """Return the static pages of the site by path below the root."""
    made = {
        **_people(town),
        **_things(town),
        "index.html": page("Varnholm", "<p>A small town by the sea, with a river, a museum and an archive.</p>"),
        "about.html": page("About", "<p>This site is kept by the town's clerk. Varnholm does not exist.</p>"),
        "museum.html": _scripted("The museum's catalogue", _catalogue(town), _MUSEUM),
        "ferry.html": _scripted("The ferry", town.ferry, _FERRY),
        "weather.html": weather(None),
        "search.html": page("Search", _SEARCH),
        **_news(town),
    }
    texts = {name: text.encode() for name, text in made.items()}
    files = {f"archive/{name}": data for name, data in documents(town).items()}
    listed = "".join(f'<li><a href="/{name}">{name.partition("/")[2]}</a></li>' for name in files)
    return {**texts, "archive/index.html": page("The archive", f"<ul>{listed}</ul>").encode(), **files}


def page(title: str, body: str, script: str = "") -> str:
    """Return a page with the site's menu."""
    menu = " ".join(f'<a href="{target}">{name}</a>' for name, target in _MENU)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style></head>'
        f"<body><nav>{menu}</nav><h1>{escape(title)}</h1>{body}{script and f'<script>{script}</script>'}</body></html>"
    )


def _table(rows: Mapping[str, object]) -> str:
    cells = "".join(f"<tr><th>{escape(name)}</th><td>{value}</td></tr>" for name, value in rows.items())
    return f"<table>{cells}</table>"


def _person(name: str) -> str:
    return f'<a href="/people/{slug(name)}.html">{escape(name)}</a>'


def _index(title: str, folder: str, names: list[str], more: str = "") -> str:
    links = "".join(f'<li><a href="/{folder}/{slug(name)}.html">{escape(name)}</a></li>' for name in names)
    return page(title, f"<ul>{links}</ul>{more}")


def _people(town: Town) -> dict[str, str]:
    made = {
        f"people/{slug(p.name)}.html": page(
            p.name,
            _table(
                {
                    "Born": p.born,
                    "Trade": p.trade,
                    "Lived in": f'<a href="/districts/{slug(p.district)}.html">{p.district}</a>',
                }
            ),
        )
        for p in town.people
    }
    names = [p.name for p in town.people]
    made["people/index.html"] = _index(
        "People", "people", names[:10], '<p><a href="/people/more.html">Next page</a></p>'
    )
    made["people/more.html"] = _index("People, page 2", "people", names[10:])
    return made


def _things(town: Town) -> dict[str, str]:
    made: dict[str, str] = {}
    for bridge in town.bridges:
        rows = {"Opened": bridge.opened, "Length": f"{bridge.metres} metres", "Engineer": _person(bridge.engineer)}
        made[f"bridges/{slug(bridge.name)}.html"] = page(bridge.name, _table(rows))
    for ship in town.ships:
        rows = {"Built": ship.built, "Burden": f"{ship.tons} tons", "Captain": _person(ship.captain)}
        made[f"ships/{slug(ship.name)}.html"] = page(ship.name, _table(rows))
    for district in town.districts:
        rows = {"Inhabitants": district.people, "Councillor": _person(district.councillor)}
        made[f"districts/{slug(district.name)}.html"] = page(district.name, _table(rows))
    for firm in town.companies:
        rows = {"Founded": firm.founded, "Founder": _person(firm.founder)}
        made[f"companies/{slug(firm.name)}.html"] = _scripted(firm.name, {"Staff": firm.staff}, _TABS, _table(rows))
    for title, folder, names in (
        ("Bridges", "bridges", [b.name for b in town.bridges]),
        ("Ships", "ships", [s.name for s in town.ships]),
        ("Districts", "districts", [d.name for d in town.districts]),
        ("Companies", "companies", [c.name for c in town.companies]),
    ):
        made[f"{folder}/index.html"] = _index(title, folder, names)
    return made


def _news(town: Town) -> dict[str, str]:
    made: dict[str, str] = {}
    for number, (ship, person) in enumerate(zip(town.ships, town.people, strict=False), 1):
        title = f"News {number}: {ship.name} in the harbour"
        body = f"<p>The {ship.name} was seen from the pier by {_person(person.name)}, who waved.</p>"
        made[f"news/{number}.html"] = page(title, body)
    links = "".join(f'<li><a href="/{name}">{name}</a></li>' for name in made)
    made["news/index.html"] = page("News", f"<ul>{links}</ul>")
    return made


def _catalogue(town: Town) -> list[list[object]]:
    return [[e.number, e.name, e.year, e.donor, e.room] for e in town.exhibits]


def _scripted(title: str, data: object, script: str, body: str = "") -> str:
    """Return a page whose data is shown by a script and is not in its text."""
    packed = base64.b64encode(json.dumps(data).encode()).decode()
    return page(title, f'{body}<div id="place"></div>', f"const data=JSON.parse(atob('{packed}'));{script}")


_MUSEUM = """
let at = 0; const place = document.getElementById('place');
const text = s => String(s).replace(/[&<]/g, c => c === '&' ? '&amp;' : '&lt;');
function show() {
  const rows = data.slice(at, at + 10).map(r => '<tr>' + r.map(c => '<td>' + text(c) + '</td>').join('') + '</tr>').join('');
  place.innerHTML = '<p>Page ' + (at / 10 + 1) + ' of ' + data.length / 10 + '</p><table><tr><th>Number</th><th>Object</th>' +
    '<th>Year</th><th>Given by</th><th>Room</th></tr>' + rows + '</table><button id="next">Next page</button>';
  document.getElementById('next').onclick = () => { at = (at + 10) % data.length; show(); };
}
show();
"""
_FERRY = """
const place = document.getElementById('place');
place.innerHTML = '<label>Direction <select id="way"><option>choose</option>' +
  Object.keys(data).map(k => '<option>' + k + '</option>').join('') + '</select></label><p id="times"></p>';
document.getElementById('way').onchange = e => {
  document.getElementById('times').textContent = 'Departures: ' + (data[e.target.value] || []).join(', ');
};
"""
_TABS = """
const place = document.getElementById('place');
place.innerHTML = '<button id="figures">Figures</button><div id="panel"></div>';
document.getElementById('figures').onclick = () => {
  document.getElementById('panel').textContent = 'Staff: ' + data.Staff + ' people';
};
"""
_SEARCH = '<form action="/search.html"><label>Words <input name="q"></label> <button>Search</button></form>'


def results(pages: Mapping[str, bytes], words: str) -> str:
    """Return the page of search results: pages that contain all words."""
    wanted = words.lower().split()
    hits = [
        name
        for name, data in pages.items()
        if name.endswith(".html") and wanted and all(w in data.decode().lower() for w in wanted)
    ]
    listed = "".join(f'<li><a href="/{name}">{name}</a></li>' for name in hits[:20])
    return page("Search", f"{_SEARCH}<p>{len(hits)} pages for {escape(words)}</p><ul>{listed}</ul>")


def weather(report: str | None) -> str:
    """Return the page with the form of the weather station, and its message."""
    options = ["".join(f"<option>{value}</option>" for value in values) for values in (RAIN_YEARS, MONTHS)]
    form = (
        f'<form method="post" action="/weather.html"><label>Year <select name="year">{options[0]}</select></label>'
        f'<label>Month <select name="month">{options[1]}</select></label><input type="hidden" name="token" id="token">'
        "<button>Show</button></form>"
    )
    answer = f"<p>{escape(report)}</p>" if report else ""
    return page("The weather station", form + answer, "document.getElementById('token').value = String(6 * 7);")


def rain(town: Town, form: Mapping[str, str]) -> str:
    """Return the page that answers the form of the weather station."""
    if form.get("token") != "42":
        return weather("The form was not sent by this page.")
    year, month = form.get("year", ""), form.get("month", "")
    fallen = town.rain.get((int(year) if year.isascii() and year.isdigit() and len(year) == 4 else 0, month))
    return weather("Nothing was measured then." if fallen is None else f"Rain in {month} {year}: {fallen} millimetres")
