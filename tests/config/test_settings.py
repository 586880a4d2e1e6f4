import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokonoma.config.settings import SETTINGS, check_module_names, resolve_settings
from tokonoma.core.errors import Invalid


def test_flags_win_over_the_environment_over_the_file_over_defaults():
    file = {"port": 1, "workers": 2, "log_level": "error"}
    environ = {"TOKONOMA_PORT": "3", "TOKONOMA_WORKERS": "4"}
    settings = resolve_settings({"port": 5, "workers": None}, environ, file)
    assert (settings.get_int("port"), settings.origins["port"]) == (5, "flag --port")
    assert (settings.get_int("workers"), settings.origins["workers"]) == (4, "environment TOKONOMA_WORKERS")
    assert (settings.get_text("log_level"), settings.origins["log_level"]) == ("error", "tokonoma.toml")
    assert (settings.get_text("host"), settings.origins["host"]) == ("127.0.0.1", "default")


def test_lists_come_as_text_or_as_lists():
    assert resolve_settings({"direct": "memory, items,"}, {}, {}).get_names("direct") == ("memory", "items")
    assert resolve_settings({}, {}, {"direct": ["all"]}).get_names("direct") == ("all",)


@pytest.mark.parametrize(
    ("file", "word"),
    [
        ({"port": 70_000}, "65535"),
        ({"port": True}, "whole number"),
        ({"prot": 1}, "'port'"),
        ({"time_limit": 0}, "seconds"),
        ({"rate_limit": "fast"}, "120/minute"),
        ({"log_level": "loud"}, "warning"),
        ({"telemetry": "perhaps"}, "true or false"),
        ({"direct": 3}, "list of names"),
        ({"host": 3}, "string"),
    ],
)
def test_a_wrong_value_names_its_place_and_what_is_allowed(file, word):
    with pytest.raises(Invalid, match=r"tokonoma\.toml") as refused:
        resolve_settings({}, {}, file)
    assert word in refused.value.message


@given(
    st.sampled_from(SETTINGS),
    st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none(), st.lists(st.text())),
)
def test_any_value_is_taken_or_refused_in_words(setting, value):
    try:
        settings = resolve_settings({}, {}, {setting.name: value})
    except Invalid as refused:
        assert setting.name in refused.message
        return
    assert settings.origins[setting.name] == "tokonoma.toml"


def test_every_default_is_allowed():
    assert resolve_settings({}, {}, {}).origins == {setting.name: "default" for setting in SETTINGS}


@pytest.mark.parametrize(
    ("variable", "meant"), [("TOKONOMA_PROT", "TOKONOMA_PORT"), ("TOKONOMA_DATABASEURL", "TOKONOMA_DATABASE_URL")]
)
def test_an_unknown_variable_is_an_error_with_the_nearest_name(variable, meant):
    with pytest.raises(Invalid, match=f"{variable}.*Did you mean '{meant}'"):
        resolve_settings({}, {variable: "1", "PATH": "/bin"}, {})


def test_variables_that_are_no_settings_are_known():
    resolve_settings({}, dict.fromkeys(["TOKONOMA_HOME", "TOKONOMA_KEY", "TOKONOMA_SOAK", "OTHER"], "x"), {})


@pytest.mark.parametrize("setting", ["direct", "modules_off"])
def test_an_unknown_module_is_an_error_with_the_nearest_name(setting):
    known = ["memory", "items"]
    check_module_names(resolve_settings({setting: "memory,items"}, {}, {}), known)
    with pytest.raises(Invalid, match=r"there is no module called 'memroy'\. Did you mean 'memory'\?") as refused:
        check_module_names(resolve_settings({setting: "items,memroy"}, {}, {}), known)
    assert refused.value.message.startswith("flag --")
    with pytest.raises(Invalid, match="There are:"):
        check_module_names(resolve_settings({setting: "x"}, {}, {}), known)


def test_all_is_a_name_for_direct_only():
    check_module_names(resolve_settings({"direct": "all"}, {}, {}), ["memory"])
    with pytest.raises(Invalid):
        check_module_names(resolve_settings({"modules_off": "all"}, {}, {}), ["memory"])
