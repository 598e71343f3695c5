"""What faces read of a definition's text."""

import pytest
from face_services import SERVICES

from hostcall._wire import signature, wire


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_it_is_what_the_definition_says(service):
    definition, of = service.definition, wire(service)
    assert [argument.text for argument in of.arguments] == [argument.type.rust for argument in definition.arguments]
    assert (of.result and of.result.text) == (definition.result and definition.result.rust)
    assert of.spoken == service.name
    for argument, known in zip(of.arguments, definition.arguments, strict=True):
        if argument.kind == "scalar":
            assert argument.units == known.type.units
    if of.result is not None:
        assert of.result.units == definition.reply_units


def test_brackets_keep_their_commas():
    arguments, result = signature("fn((u8, i32), &mut [u16], Option<(u8, u8)>, [u8; 4]) -> Result<u32, (u8, bool)>")
    assert [argument.kind for argument in arguments] == ["tuple", "slice_mut", "other", "other"]
    assert [member.text for member in arguments[0].of] == ["u8", "i32"]
    assert result.kind == "other" and result.text == "Result<u32, (u8, bool)>"
    assert signature("fn()") == ((), None)
    assert signature("fn() -> ()")[1].kind == "unit"
