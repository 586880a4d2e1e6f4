"""Random reaches over some modules and services, for property tests."""

from hypothesis import strategies as st

from tokonoma.catalogue import CATALOGUE_FILE, SERVICES_FILE, read_catalogue
from tokonoma.core.namespaces import is_inside
from tokonoma.core.reach import Reach

SPACES = ("/", "/team", "/team/ada", "/team/ada/x", "/team/adalbert", "/team/bob", "/teams", "/home")
ACCOUNTS = ("work", "own", "third")
INFOS = [info for file in (CATALOGUE_FILE, SERVICES_FILE) for info in read_catalogue(file)]
KNOWN = {info.name: info for info in INFOS if info.name in ("memory", "items", "system", "github", "jira")}
TOOLS = [tool for info in KNOWN.values() for tool in info.entries]
EXTRAS = [tool for tool in TOOLS if tool.extra]
EFFECTS = ("read", "write", "destroy")

names = st.sampled_from(sorted(KNOWN))
paths = st.sampled_from([tool.path for tool in TOOLS])
scopes = st.one_of(names, st.builds("{}@{}".format, names, st.sampled_from(ACCOUNTS)))
rules = st.one_of(
    scopes,
    st.just("*"),
    st.builds("{}:{}".format, st.one_of(scopes, st.just("*")), st.sampled_from(EFFECTS)),
    paths,
    st.builds(lambda path, account: path.replace(".", f"@{account}.", 1), paths, st.sampled_from(ACCOUNTS)),
)
extras = st.one_of(st.just("*"), st.builds("{}.*".format, names), st.sampled_from([tool.path for tool in EXTRAS]))


@st.composite
def reaches(draw: st.DrawFn) -> Reach:
    root = draw(st.sampled_from(SPACES))
    default = draw(st.sampled_from([each for each in SPACES if is_inside(each, root)]))
    modules = draw(st.one_of(st.none(), st.frozensets(names)))
    return Reach(root, default, modules, draw(st.frozensets(rules, max_size=4)), draw(st.frozensets(extras)))
