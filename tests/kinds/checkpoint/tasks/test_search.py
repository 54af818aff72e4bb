"""Answering by search: documents that agree with each other, questions whose answers follow, and rules that check them."""

from __future__ import annotations

import json
import re

import pytest

from heredity.kinds.checkpoint.tasks import posttraining_task, workspace_files
from heredity.kinds.checkpoint.tasks.env.rollout import following, play
from heredity.kinds.checkpoint.tasks.env.search import (
    INSTRUCTION,
    Document,
    Library,
    Question,
    SearchEpisode,
    correct,
    question_of,
)
from heredity.library.tasks.posttraining.search.corpus import RELATIONS, Asked, countries, questions, solution

SEED = 5
TWO = Question("Which?", (("the River Ar", "Ar"), ("Bo",)))


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ("Ar; Bo", True),
        ("bo ;  The river AR!", True),
        ("Ar", False),
        ("Ar; Bo; Cu", False),
        ("Ar, Bo", False),
        ("Ar; Ar", False),
        ("", False),
    ],
)
def test_an_answer_names_all_and_nothing_else(given: str, right: bool) -> None:
    assert correct(TWO, given) is right


def test_every_fact_is_said_in_the_document_of_its_subject_and_nowhere_else() -> None:
    country = countries(SEED)[0]
    documents = {d.title: d.text for d in country.library.documents}
    assert len(documents) == sum(map(len, country.names.values())) == 340
    for relation in RELATIONS:
        for subject in country.names[relation.subject]:
            assert country.facts[subject, relation.name] in documents[subject]
    assert all(len(text) < 400 for text in documents.values())


def test_the_two_countries_of_a_seed_share_no_name_and_no_question() -> None:
    for seed in range(5):
        first, second = ({n for names in c.names.values() for n in names} for c in countries(seed))
        assert not first & second
        asked = [{q.question.text for q in questions(seed, part)} for part in (0, 1)]
        assert not asked[0] & asked[1]


def test_questions_follow_one_to_three_documents_in_turn_and_are_all_different() -> None:
    asked = questions(SEED, 1)
    assert [a.hops for a in asked[:7] if len(a.question.answers) == 1] == [1, 2, 3, 1, 2, 3]
    assert len({a.question.text for a in asked}) == len(asked) > 1000
    assert sum(len(a.question.answers) > 1 for a in asked[:300]) > 20


def test_the_answer_follows_from_the_facts_on_its_path() -> None:
    country = countries(SEED)[1]
    for asked in questions(SEED, 1)[:300]:
        if len(asked.question.answers) > 1:
            continue
        for here, there in zip(asked.path, (*asked.path[1:], asked.question.answers[0][0]), strict=True):
            assert there in {o for (s, _), o in country.facts.items() if s == here}
        assert asked.question.answers[0][0] not in asked.question.text


def test_the_reference_solution_answers_every_question_in_time() -> None:
    library = countries(SEED)[1].library
    for asked in questions(SEED, 1)[:150]:
        played = play(SearchEpisode(library, asked.question), INSTRUCTION, following(solution(asked)))
        assert played.total == 1.0
        assert len(played.replies) <= 6


def test_who_reads_the_first_hit_alone_answers_few_questions() -> None:
    library = countries(SEED)[1].library
    answered = sum(first_hit(library, asked) for asked in questions(SEED, 1)[:150]) / 150
    assert answered < 0.3


def first_hit(library: Library, asked: Asked) -> float:
    words = library.search(asked.question.text)[0].text.rstrip(".").split()[-1]
    steps = [("", f"search[{asked.question.text}]"), ("", f"answer[{words}]")]
    return play(SearchEpisode(library, asked.question), INSTRUCTION, following(steps)).total


def test_a_search_for_a_questions_own_words_leads_to_where_it_begins() -> None:
    library = countries(SEED)[1].library
    asked = [a for a in questions(SEED, 1)[:300] if len(a.question.answers) == 1]
    hits = [asked.path[0] in {d.title for d in library.search(asked.question.text)} for asked in asked]
    assert sum(hits) / len(hits) > 0.9


def test_a_list_can_be_named_from_one_search_for_its_kind_and_its_owner() -> None:
    library = countries(SEED)[1].library
    several = [a for a in questions(SEED, 1) if len(a.question.answers) > 1]
    assert len(several) > 30
    for asked in several:
        owner = re.sub(r"^Which \w+ (did|stand in) |( (write|design|build))?\?$", "", asked.question.text)
        kind = asked.question.text.split()[1].removesuffix("s")
        assert set(asked.path) <= {d.title for d in library.search(f"{kind} {owner}")}


def test_an_episode_searches_opens_and_answers() -> None:
    episode = SearchEpisode(Library([Document("The Hill", "The Hill is high."), Document("B", "b")]), TWO)
    assert episode.reset() == "Question: Which?"
    assert "no action" in episode.step("think hard")[0]
    assert episode.step("search[hill]")[0].startswith("[The Hill] ")
    assert episode.step("search[zzz]")[0] == "Nothing was found."
    assert episode.step("Open[ hill ]")[0] == "The Hill is high."
    assert "no document 'C'" in episode.step("open[C]")[0]
    assert episode.step("answer[Bo; Ar]") == ("The answer was taken.", 1.0, True)
    assert episode.given == "Bo; Ar"


def test_questions_come_back_from_their_file() -> None:
    files = workspace_files(posttraining_task("search"), 1)
    rows = [json.loads(line) for line in files["data/episodes.jsonl"].splitlines()]
    assert len(rows) == 300
    assert all(question_of(row).answers for row in rows)
